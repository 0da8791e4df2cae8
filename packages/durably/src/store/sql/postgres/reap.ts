// A reap as one statement. A run that its owner is writing to is skipped: its lease is being renewed.
import { type RawBuilder, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { eventType, isActive, isTerminal, target } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { lostRuns, type ReapedBy, type ReapValues, reapValues, takenBack, toReaped } from '../shared/reap.ts'
import type { Param } from '../shared/statement.ts'

export function reapRuns({ statement, session, env, tables: t, into, syntax, eventLog, awokenParent, runRow }: LazyDeps): RunStore['reap'] {
  const events = (p: Param<ReapValues>) => sql`, events AS (INSERT INTO ${into.events}
        SELECT r.id, r.last_event_sequence,
          CASE r.status WHEN ${target('reclaimCancelled')} THEN ${eventType('reclaimCancelled')} WHEN ${target('reclaimCrashLoop')} THEN ${eventType('reclaimCrashLoop')} WHEN ${target('confirm')} THEN ${eventType('confirm')} ELSE ${eventType('reclaim')} END,
          CASE WHEN r.status <> ${target('reclaimCrashLoop')} THEN '{}' WHEN r.reason = 'timeout' THEN ${p('deadlinePayload')} ELSE ${p('payload')} END, ${p('at')} FROM reaped AS r)`
  /** A parent that the same statement took back cannot be changed a second time, and need not be: it is due already. */
  const parents = (now: RawBuilder<unknown>) => sql`parents AS (UPDATE ${t.runs} AS r SET ${awokenParent(now, sql`ended.count`)}
        FROM (SELECT r.parent_run_id, count(*)::integer AS count FROM reaped AS r WHERE ${isTerminal()} GROUP BY 1) AS ended
        WHERE r.id = ended.parent_run_id AND ${isActive()} AND NOT EXISTS (SELECT 1 FROM reaped WHERE reaped.id = r.id))`
  const reap = (by: ReapedBy) =>
    statement<ReapValues>((p) => {
      const now = syntax.now(p)
      return sql`${syntax.clock(p)}, lost AS (${lostRuns({ tables: t, syntax }, p, by)}),
      reaped AS (UPDATE ${t.runs} AS r SET ${takenBack(p, now, by)} FROM lost WHERE r.id = lost.id RETURNING r.*, lost.lease_end)
      ${eventLog ? events(p) : sql``}, ${parents(now)}
      SELECT * FROM reaped ORDER BY lease_end, id`
    })

  const lost = reap('lease')
  const left = reap('tokens')
  return async (request) => {
    const [rows = []] = await session.write([(request.tokens ? left : lost)(reapValues(env.wall(), request))], 'urgent')
    return rows.map((row) => toReaped(runRow(row)))
  }
}
