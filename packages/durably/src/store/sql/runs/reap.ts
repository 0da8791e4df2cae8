import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RecordedPayload } from '../../../model/event.ts'
import { TRANSITIONS } from '../../../model/transitions.ts'
import { crashLoopError, LEASE_MS_MAX, REAP_MAX, type Reaped, type RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { canMove, eventType, target } from '../guards.ts'
import { runRow } from '../rows.ts'
import { type Param, statement } from '../statement.ts'

interface ReapValues {
  now: number
  /** A lease that ends later was written by a broken clock. */
  far: number
  at: string
  /** `null` for no limit. */
  maxRecoveries: number | null
  error: string
  failure: string
  payload: string
}
type P = Param<ReapValues>

export function reapRuns({ db, session, env, tables: t, syntax }: SqlContext): RunStore['reap'] {
  const leaseEnds = (when: RawBuilder<unknown>) => sql`SELECT * FROM (
    SELECT r.id FROM ${t.runs} AS r ${syntax.by(t.index('runs_lease_end'))} WHERE ${canMove('reclaim')} AND r.lease_expires_at ${when}
    ORDER BY r.lease_expires_at, r.${syntax.insertionOrder} LIMIT ${sql.lit(REAP_MAX)})`
  /** Two ranges of one index. Nothing before the update changes a lease, so every statement means the same runs. */
  const lost = (p: P) =>
    sql`SELECT id FROM (${leaseEnds(sql`<= ${p('now')}`)} UNION ALL ${leaseEnds(sql`> ${p('far')}`)}) LIMIT ${sql.lit(REAP_MAX)}`
  const fate = (p: P, cancelled: RawBuilder<unknown>, crashLoop: RawBuilder<unknown>, reclaimed: RawBuilder<unknown>) =>
    sql`CASE WHEN r.cancel_requested_at IS NOT NULL THEN ${cancelled} WHEN r.recoveries >= ${p('maxRecoveries')} THEN ${crashLoop} ELSE ${reclaimed} END`
  const none = sql`NULL`

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
        status = ${fate(p, target('reclaimCancelled'), target('reclaimCrashLoop'), target('reclaim'))},
        recoveries = ${fate(p, sql`recoveries`, sql`recoveries`, sql`recoveries + 1`)},
        error = ${fate(p, sql`error`, p('error'), sql`error`)},
        failure = ${fate(p, sql`failure`, p('failure'), sql`failure`)},
        reason = ${fate(p, sql`reason`, sql`'crash_loop'`, sql`reason`)},
        finished_at = ${fate(p, p('now'), p('now'), none)},
        lease_owner = NULL, lease_expires_at = NULL, version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
      WHERE r.id IN (${lost(p)}) RETURNING *`,
  )

  return async ({ maxRecoveries }) => {
    const values = reapValues(env.wall(), maxRecoveries)
    const [inOrder = [], , rows = []] = await session.write([order(values), events(values), update(values)])
    const reaped = new Map(rows.map((row) => [row.id, toReaped(row)]))
    return inOrder.flatMap(({ id }) => reaped.get(id) ?? [])
  }
}

function reapValues(now: number, maxRecoveries: number): ReapValues {
  const error = crashLoopError(maxRecoveries)
  return {
    now,
    far: now + LEASE_MS_MAX,
    at: iso(now),
    maxRecoveries: Number.isFinite(maxRecoveries) ? maxRecoveries : null,
    error,
    failure: JSON.stringify({ name: 'DurablyError', code: 'crash_loop', message: error }),
    payload: JSON.stringify({ error, failedStepName: '' } satisfies RecordedPayload),
  }
}

const MOVES = ['reclaim', 'reclaimCancelled', 'reclaimCrashLoop'] as const

/** The three end in three different statuses. */
function toReaped(row: Parameters<typeof runRow>[0]): Reaped {
  const run = runRow(row)
  return { run, move: MOVES.find((move) => TRANSITIONS[move].to === run.status) ?? 'reclaim' }
}
