// A cancel as one transaction of two statements.
//   K1. The first one waits until nobody moves the run or one below it, in the order of their ids; the second one begins after
//       that, so it sees what they wrote and triggered meanwhile (PG1), and no one has to be waited for.
//   K2. A run that is triggered, claimed and parked while the second one is under way is not seen by it. The run that triggered it
//       was asked to stop, and is kept as long as it has a child that has not ended: the child learns of it at its next claim or
//       write, and a cancel that is asked for again finds it.
//   K3. The end of a child locks the child and then its parent. A deadlock with that is undone whole, and tried again.
import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { recordable } from '../shared/audit.ts'
import { canBeStopped, cancelOutcome, family, stopped } from '../shared/cancel.ts'
import { type ClientValues, clientValues } from '../shared/client-moves.ts'
import { canMove, eventType, isActive, target } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'

export function cancelRuns(deps: LazyDeps): RunStore['cancel'] {
  const { statement, session, env, tables: t, into, syntax, eventLog, runRow, awokenParent } = deps
  const lock = statement<ClientValues>(
    (p) => sql`WITH family AS MATERIALIZED (${family(t, p)})
      SELECT r.id FROM ${t.runs} AS r WHERE r.id IN (SELECT id FROM family UNION SELECT parent_run_id FROM family) AND ${isActive()}
      ORDER BY r.id ${syntax.lock}`,
  )
  const events = (p: Param<ClientValues>) => sql`, events AS (INSERT INTO ${into.events}
      SELECT id, last_event_sequence, ${eventType('cancel')}, '{}', ${p('at')} FROM stopped WHERE status = ${target('cancel')})`
  /** Only those below it may have been changed. */
  const version = (p: Param<ClientValues>) =>
    sql`coalesce((SELECT version FROM stopped WHERE id = ${p('id')}), (SELECT version FROM ${t.runs} WHERE id = ${p('id')}))`
  const cancel = recordable<ClientValues>(
    deps,
    (p, entry) => sql`${syntax.clock(p)}, family AS MATERIALIZED (${family(t, p)}),
      ended AS (SELECT parent_run_id AS id, count(*)::integer AS count FROM family AS r WHERE ${canMove('cancel')} GROUP BY 1),
      stopped AS (UPDATE ${t.runs} AS r SET ${stopped(p, syntax.now(p))}, signals = r.signals + coalesce(
          (SELECT ended.count FROM ended WHERE ended.id = r.id AND r.status = 'running'), 0)
        FROM family WHERE r.id = family.id AND ${canBeStopped} RETURNING r.*),
      parents AS (UPDATE ${t.runs} AS r SET ${awokenParent(syntax.now(p), sql`ended.count`)} FROM ended
        WHERE r.id = ended.id AND ${isActive()} AND NOT EXISTS (SELECT 1 FROM stopped WHERE stopped.id = r.id) RETURNING r.*),
      changed AS (SELECT * FROM stopped UNION ALL SELECT * FROM parents)
      ${eventLog ? events(p) : sql``}${entry(sql`stopped`, version(p))}
      SELECT (SELECT json_agg(json_build_object('id', id, 'job_name', job_name, 'status', status))::text FROM stopped) AS all_stopped, run.*
      FROM (SELECT * FROM changed WHERE id = ${p('id')}
        UNION ALL SELECT * FROM ${t.runs} WHERE id = ${p('id')} AND NOT EXISTS (SELECT 1 FROM changed WHERE id = ${p('id')})) AS run`,
  )

  return async (id, options = {}) => {
    const values = clientValues(id, options, env.wall())
    const [, rows] = await session.write([lock(values), cancel(values, options)])
    const row = rows?.[0]
    return row ? cancelOutcome(runRow(row), JSON.parse(String(row.all_stopped ?? '[]')), options) : null
  }
}
