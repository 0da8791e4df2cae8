// A cancel reaches a run and those below it in one transaction. The statements before the update read the rows as they were.
import { type RawBuilder, sql } from 'kysely'

import type { RunRow } from '../../../model/run.ts'
import { TRANSITIONS } from '../../../model/transitions.ts'
import type { CancelOutcome, Changed, IfVersion, RunStore, StoppedRun } from '../../runs.ts'
import type { SqlContext } from '../shared/deps.ts'
import { canMove, eventType, isActive, isVersion, passesOn, target } from '../shared/guards.ts'
import { awokenParent, EVENT_COLUMNS } from '../shared/owner-moves.ts'
import { runRow } from '../shared/rows.ts'
import type { Tables } from '../shared/schema.ts'
import type { Row } from '../shared/session.ts'
import { type Param, statement } from '../shared/statement.ts'
import { type ClientValues, changed, clientValues } from './client-moves.ts'

type P = Param<ClientValues>
type Fragment = RawBuilder<unknown>

/** The run and those that share its cancel, at any depth. */
export function family(t: Pick<Tables, 'runs'>, p: P): Fragment {
  return sql`WITH RECURSIVE below AS (
      SELECT r.id, r.parent_run_id, r.status FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${passesOn()} AND ${isVersion(p)}
      UNION SELECT r.id, r.parent_run_id, r.status FROM below CROSS JOIN ${t.runs} AS r WHERE r.parent_run_id = below.id AND ${passesOn()})
    SELECT * FROM below`
}

/** Of the run `r`. Asked once is enough: the first request keeps its time. */
export const canBeStopped = sql`(${canMove('cancel')} OR (r.status = 'running' AND r.cancel_requested_at IS NULL))`

/** What becomes of the run `r`: a pending one ends, a running one is asked to stop. */
export function stopped(p: P, now: Fragment): Fragment {
  const ifItEnds = (then: Fragment, otherwise: Fragment) => sql`CASE WHEN ${canMove('cancel')} THEN ${then} ELSE ${otherwise} END`
  return sql`status = ${ifItEnds(target('cancel'), sql`r.status`)}, finished_at = ${ifItEnds(now, sql`r.finished_at`)}, cancel_requested_at = ${now},
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

export function cancelRuns({ db, session, env, tables: t, eventLog }: SqlContext): RunStore['cancel'] {
  /** Those that will end. */
  const ending = (p: P) => sql`SELECT r.id, r.parent_run_id FROM (${family(t, p)}) AS r WHERE ${canMove('cancel')}`
  const events = statement<ClientValues>(
    db,
    (p) => sql`INSERT INTO ${t.events} (${EVENT_COLUMNS})
      SELECT r.id, r.last_event_sequence + 1, ${eventType('cancel')}, '{}', ${p('at')} FROM (${ending(p)}) AS ending CROSS JOIN ${t.runs} AS r WHERE r.id = ending.id`,
  )
  const parents = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'), sql`ended.count`)}
      FROM (SELECT parent_run_id, count(*) AS count FROM (${ending(p)}) GROUP BY 1) AS ended
      WHERE r.id = ended.parent_run_id AND ${isActive()} AND r.id NOT IN (SELECT id FROM (${ending(p)}))`,
  )
  const update = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${stopped(p, p('now'))} FROM (${family(t, p)}) AS family
      WHERE r.id = family.id AND ${canBeStopped} RETURNING id, job_name, status`,
  )
  const select = statement<{ id: string }>(db, (p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  return async (id, options = {}) => {
    const values = clientValues(id, options, env.wall())
    const queries = [...(eventLog ? [events(values)] : []), parents(values), update(values), select(values)]
    const [all = [], found] = (await session.write(queries)).slice(-2)
    return found?.[0] ? cancelOutcome(runRow(found[0]), all, options) : null
  }
}
