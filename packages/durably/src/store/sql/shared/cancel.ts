// What the cancels of all databases have in common: which runs a cancel reaches, what it changes in each, and the answer.
import { type RawBuilder, sql } from 'kysely'
import type { RunRow } from '../../../model/run.ts'
import { TRANSITIONS } from '../../../model/transitions.ts'
import type { CancelOutcome, Changed, IfVersion, StoppedRun } from '../../runs.ts'
import { type ClientValues, changed } from './client-moves.ts'
import { isVersion, passesOn } from './command-guards.ts'
import { canMove, target } from './guards.ts'
import type { Tables } from './schema.ts'
import type { Row } from './session.ts'
import type { Param } from './statement.ts'

type P = Param<ClientValues>

type Fragment = RawBuilder<unknown>

/** The run and those that share its cancel, at any depth. */
export function family(t: Pick<Tables, 'runs'>, p: P): Fragment {
  return sql`WITH RECURSIVE below AS (
      SELECT r.id, r.parent_run_id, r.status FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${passesOn()} AND ${isVersion(p)}
      UNION SELECT r.id, r.parent_run_id, r.status FROM below CROSS JOIN ${t.runs} AS r WHERE r.parent_run_id = below.id AND ${passesOn()})
    SELECT * FROM below`
}

/** Whether a cancel changes the run `r`. A running one is asked to stop only once: the first request keeps its time. */
export const canBeStopped = sql`(${canMove('cancel')} OR (r.status = 'running' AND r.cancel_requested_at IS NULL))`

/** What a cancel changes in the run `r`: a pending one ends, a running one is asked to stop. */
export function stopped(p: P, now: Fragment): Fragment {
  const ifItEnds = (then: Fragment, otherwise: Fragment) => sql`CASE WHEN ${canMove('cancel')} THEN ${then} ELSE ${otherwise} END`
  return sql`status = ${ifItEnds(target('cancel'), sql`r.status`)}, finished_at = ${ifItEnds(now, sql`r.finished_at`)}, cancel_requested_at = ${now},
    assigned_worker_id = ${ifItEnds(sql`NULL`, sql`r.assigned_worker_id`)}, assigned_at = ${ifItEnds(sql`NULL`, sql`r.assigned_at`)},
    version = r.version + 1, last_event_sequence = r.last_event_sequence + ${ifItEnds(sql`1`, sql`0`)}, updated_at = ${p('at')}`
}

/** `all`: id, name of the job and status of each that was changed, the run itself among them or not. */
export function cancelOutcome(run: RunRow, all: readonly Row[], options: IfVersion): CancelOutcome | Changed {
  const stopped = all.map(
    (row): StoppedRun => ({
      outcome: row.status === TRANSITIONS.cancel.to ? 'cancelled' : 'requested',
      id: String(row.id),
      jobName: String(row.job_name),
    }),
  )
  const own = stopped.find(({ id }) => id === run.id)
  const others = stopped.filter((one) => one !== own).sort((a, b) => (a.id < b.id ? -1 : 1))
  if (own) return { outcome: own.outcome, run, others }
  return changed(run.version, options) ?? { outcome: run.status === 'running' ? 'requested' : 'refused', run, others }
}
