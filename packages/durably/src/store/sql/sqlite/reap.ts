// A reap as a batch: every statement selects the same lost runs again, and the update of the runs comes last.
import { type CompiledQuery, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { isActive } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { lostRuns, type ReapedBy, type ReapValues, reapValues, reclaimEnds, reclaimEvent, takenBack, toReaped } from '../shared/reap.ts'
import type { Param } from '../shared/statement.ts'

type P = Param<ReapValues>

export function reapRuns(deps: LazyDeps): RunStore['reap'] {
  const { session, env, runRow } = deps
  const lost = reapQueries(deps, 'lease')
  const left = reapQueries(deps, 'tokens')
  return async (request) => {
    const results = await session.write((request.tokens ? left : lost)(reapValues(env.wall(), request)), 'urgent')
    const inOrder = results.at(0) ?? []
    const rows = results.at(-1) ?? []
    const reaped = new Map(rows.map((row) => [row.id, toReaped(runRow(row))]))
    return inOrder.flatMap(({ id }) => reaped.get(id) ?? [])
  }
}

function reapQueries(
  { statement, tables: t, into, syntax, eventLog, awokenParent }: LazyDeps,
  by: ReapedBy,
): (values: ReapValues) => CompiledQuery[] {
  /** Nothing before the update changes a lease, so every statement means the same runs. */
  const lost = (p: P) => sql`SELECT id FROM (${lostRuns({ tables: t, syntax }, p, by)})`

  const order = statement<ReapValues>(lost)
  const events = statement<ReapValues>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, r.last_event_sequence + 1,
        ${reclaimEvent(p, p('now'), by)}, ${p('at')}
      FROM ${t.runs} AS r WHERE r.id IN (${lost(p)})`,
  )
  const parents = statement<ReapValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'), sql`ended.count`)}
      FROM (SELECT r.parent_run_id, count(*) AS count FROM ${t.runs} AS r
        WHERE r.id IN (${lost(p)}) AND ${reclaimEnds(p, p('now'), by)} GROUP BY 1) AS ended
      WHERE r.id = ended.parent_run_id AND ${isActive()}`,
  )
  const update = statement<ReapValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET
        ${takenBack(p, p('now'), by)}
      WHERE r.id IN (${lost(p)}) RETURNING *`,
  )

  return (values) => [order(values), ...(eventLog ? [events(values)] : []), parents(values), update(values)]
}
