// The guards of commands as SQL. They are not with those that every worker needs, because a page without commands does not load them.
import { type RawBuilder, sql } from 'kysely'
import { RUN_STATUSES, TERMINAL_STATUSES } from '../../../model/run.ts'
import type { StepStatus } from '../../../model/step.ts'
import { isFinal, TRANSITIONS } from '../../../model/transitions.ts'
import type { SqlDeps } from './deps.ts'
import { canMove, isActive, isOneOf, isTerminal, target } from './guards.ts'
import type { Tables } from './schema.ts'
import type { Param } from './statement.ts'

/** The version of a run that the audit names. */
export function versionOfRun(t: Pick<Tables, 'runs'>): (p: Param<{ targetId: string }>) => RawBuilder<unknown> {
  return (p) => sql`(SELECT version FROM ${t.runs} WHERE id = ${p('targetId')})`
}

/** The run `r` has the version that was asked for, if one was. */
export function isVersion(p: Param<{ ifVersion: number | null }>): RawBuilder<unknown> {
  return sql`r.version = coalesce(${p('ifVersion')}, r.version)`
}

/** The signal `s` made a step fail, and no step has accepted it: when the run is retried, it waits for another one. */
export function isRefused(t: Pick<Tables, 'steps'>): RawBuilder<unknown> {
  const step = (status: StepStatus) =>
    sql`EXISTS (SELECT 1 FROM ${t.steps} AS step WHERE step.run_id = s.run_id AND step.name = s.name AND step.status = ${sql.lit(status)})`
  return sql`${step('failed')} AND NOT ${step('completed')}`
}

/** The run `r` can be retried. If its parent was asked to stop it cannot: it would be cancelled at once. */
export function isRetryable(t: Pick<Tables, 'runs'>): RawBuilder<unknown> {
  return sql`${canMove('retry')} AND NOT EXISTS (
    SELECT 1 FROM ${t.runs} AS parent WHERE parent.id = r.parent_run_id AND parent.cancel_requested_at IS NOT NULL)`
}

/** A cancel of the run `r` reaches the runs below it, unless `r` has completed or failed. */
export function passesOn(): RawBuilder<unknown> {
  return sql`NOT (${isOneOf(
    sql`r.status`,
    TERMINAL_STATUSES.filter((status) => status !== TRANSITIONS.cancel.to),
  )})`
}

/** The run `r` has ended, and nobody needs it any more (`DeleteOutcome`). */
export function isDeletable(t: Pick<Tables, 'runs'>): RawBuilder<unknown> {
  const mayAsk = RUN_STATUSES.filter((status) => !isFinal(status))
  return sql`${isTerminal()}
    AND NOT EXISTS (SELECT 1 FROM ${t.runs} AS parent WHERE parent.id = r.parent_run_id AND ${isOneOf(sql`parent.status`, mayAsk)})
    AND NOT (r.status = ${target('cancel')} AND EXISTS (SELECT 1 FROM ${t.runs} AS child WHERE child.parent_run_id = r.id AND ${isActive(sql`child.status`)}))`
}

/** The run `r` is of one of the jobs in a JSON array; of any without one. */
export function isOfJobs({ syntax }: Pick<SqlDeps, 'syntax'>, p: Param<{ jobs: string | null }>): RawBuilder<unknown> {
  return sql`(CAST(${p('jobs')} AS TEXT) IS NULL OR r.job_name IN (SELECT job.value FROM ${syntax.texts(sql`coalesce(${p('jobs')}, '[]')`)} AS job))`
}
