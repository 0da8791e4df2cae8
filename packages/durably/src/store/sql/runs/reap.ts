import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RecordedPayload } from '../../../model/event.ts'
import { TRANSITIONS } from '../../../model/transitions.ts'
import { crashLoopError, REAP_MAX, type Reaped, type RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { canMove, eventType, farAhead, target } from '../guards.ts'
import { runRow } from '../rows.ts'
import { type Param, statement } from '../statement.ts'

export interface ReapValues {
  now: number
  at: string
  /** `null` for no limit. */
  maxRecoveries: number | null
  error: string
  failure: string
  payload: string
}
type P = Param<ReapValues>
type Fragment = RawBuilder<unknown>

/** Leases that ended early, or far too late, in their order: two ranges of one index. */
export function lostRuns({ tables: t, syntax }: Pick<SqlContext, 'tables' | 'syntax'>, now: Fragment): { late: Fragment; far: Fragment } {
  const leaseEnds = (when: Fragment) =>
    sql`SELECT r.id, r.lease_expires_at AS lease_end FROM ${t.runs} AS r ${syntax.by(t.index('runs_lease_end'))} WHERE ${canMove('reclaim')} AND r.lease_expires_at ${when}
    ORDER BY r.lease_expires_at, r.${syntax.creationOrder} LIMIT ${sql.lit(REAP_MAX)} ${syntax.skipLocked}`
  return { late: leaseEnds(sql`<= ${now}`), far: leaseEnds(sql`> ${farAhead(now)}`) }
}

function fate(p: P, cancelled: Fragment, crashLoop: Fragment, reclaimed: Fragment): Fragment {
  return sql`CASE WHEN r.cancel_requested_at IS NOT NULL THEN ${cancelled} WHEN r.recoveries >= ${p('maxRecoveries')} THEN ${crashLoop} ELSE ${reclaimed} END`
}

/** What becomes of a lost run. */
export function takenBack(p: P, now: Fragment): Fragment {
  return sql`status = ${fate(p, target('reclaimCancelled'), target('reclaimCrashLoop'), target('reclaim'))},
        recoveries = ${fate(p, sql`recoveries`, sql`recoveries`, sql`recoveries + 1`)},
        error = ${fate(p, sql`error`, p('error'), sql`error`)},
        failure = ${fate(p, sql`failure`, p('failure'), sql`failure`)},
        reason = ${fate(p, sql`reason`, sql`'crash_loop'`, sql`reason`)},
        finished_at = ${fate(p, now, now, sql`NULL`)},
        lease_owner = NULL, lease_expires_at = NULL, version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}`
}

export function reapRuns({ db, session, env, tables: t, syntax, eventLog }: SqlContext): RunStore['reap'] {
  /** Nothing before the update changes a lease, so every statement means the same runs. */
  const lost = (p: P) => {
    const { late, far } = lostRuns({ tables: t, syntax }, p('now'))
    return sql`SELECT id FROM (SELECT * FROM (${late}) UNION ALL SELECT * FROM (${far})) LIMIT ${sql.lit(REAP_MAX)}`
  }

  const order = statement<ReapValues>(db, lost)
  const events = statement<ReapValues>(
    db,
    (p) => sql`INSERT INTO ${t.events} (run_id, seq, event_type, payload, created_at)
      SELECT r.id, r.last_event_sequence + 1,
        ${fate(p, eventType('reclaimCancelled'), eventType('reclaimCrashLoop'), eventType('reclaim'))}, ${fate(p, sql`'{}'`, p('payload'), sql`'{}'`)},
        ${p('at')}
      FROM ${t.runs} AS r WHERE r.id IN (${lost(p)})`,
  )
  const update = statement<ReapValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET
        ${takenBack(p, p('now'))}
      WHERE r.id IN (${lost(p)}) RETURNING *`,
  )

  return async ({ maxRecoveries }) => {
    const values = reapValues(env.wall(), maxRecoveries)
    const results = await session.write(eventLog ? [order(values), events(values), update(values)] : [order(values), update(values)])
    const inOrder = results.at(0) ?? []
    const rows = results.at(-1) ?? []
    const reaped = new Map(rows.map((row) => [row.id, toReaped(row)]))
    return inOrder.flatMap(({ id }) => reaped.get(id) ?? [])
  }
}

export function reapValues(now: number, maxRecoveries: number): ReapValues {
  const error = crashLoopError(maxRecoveries)
  return {
    now,
    at: iso(now),
    maxRecoveries: Number.isFinite(maxRecoveries) ? maxRecoveries : null,
    error,
    failure: JSON.stringify({ name: 'DurablyError', code: 'crash_loop', message: error }),
    payload: JSON.stringify({ error, failedStepName: '' } satisfies RecordedPayload),
  }
}

const MOVES = ['reclaim', 'reclaimCancelled', 'reclaimCrashLoop'] as const

/** The three end in three different statuses. */
export function toReaped(row: Parameters<typeof runRow>[0]): Reaped {
  const run = runRow(row)
  return { run, move: MOVES.find((move) => TRANSITIONS[move].to === run.status) ?? 'reclaim' }
}
