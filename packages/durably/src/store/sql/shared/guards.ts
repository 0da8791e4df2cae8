// The guards of the transitions as SQL: a statement names the move it makes, never a status of its own.
import { type RawBuilder, sql } from 'kysely'
import { RUN_STATUSES, TERMINAL_STATUSES } from '../../../model/run.ts'
import type { StepStatus } from '../../../model/step.ts'
import { isFinal, type Move, TRANSITIONS } from '../../../model/transitions.ts'
import { LEASE_MS_MAX } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import type { Tables } from './schema.ts'
import type { Param } from './statement.ts'

/** The run `r` has a status from which this move can be made. */
export function canMove(move: Move): RawBuilder<unknown> {
  return isOneOf(sql`r.status`, TRANSITIONS[move].from)
}

export function target(move: Move): RawBuilder<unknown> {
  return sql.lit(TRANSITIONS[move].to)
}

export function eventType(move: Move): RawBuilder<unknown> {
  return sql.lit(TRANSITIONS[move].event)
}

export function isTerminal(status = sql`r.status`): RawBuilder<unknown> {
  return isOneOf(status, TERMINAL_STATUSES)
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

/** When the run `r`, or the one that triggered it, was asked to stop. */
export function cancelOf(t: Pick<Tables, 'runs'>): RawBuilder<unknown> {
  return sql`coalesce(r.cancel_requested_at, (SELECT parent.cancel_requested_at FROM ${t.runs} AS parent WHERE parent.id = r.parent_run_id))`
}

/** The run `r`, or the one with this status, has not ended. */
export function isActive(status?: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`NOT (${isTerminal(status)})`
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

/** A partial index is only found by `=`, so one value is not written as a list. */
function isOneOf(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<unknown> {
  const [first, ...others] = values.map((value) => sql.lit(value))
  return others.length === 0 ? sql`${column} = ${first}` : sql`${column} IN (${sql.join([first, ...others])})`
}

/** A lease that ends later was written by a broken clock. */
export function farAhead(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${now} + ${sql.lit(LEASE_MS_MAX)}`
}

export interface OwnerParams {
  runId: string
  generation: number
  token: string
  number: number
}

/** W1: the lease is mine. Every owner move starts in the same status. */
export function isHeld(p: Param<Omit<OwnerParams, 'number'>>): RawBuilder<unknown> {
  return sql`r.id = ${p('runId')} AND ${canMove('complete')} AND r.lease_generation = ${p('generation')} AND r.lease_owner = ${p('token')}`
}

/** W1 and W2: the lease is mine and this write is new. */
export function isMine(p: Param<OwnerParams>): RawBuilder<unknown> {
  return sql`${isHeld(p)} AND r.lease_writes < ${p('number')}`
}
