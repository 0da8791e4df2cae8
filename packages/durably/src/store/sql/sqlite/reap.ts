import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { ErrorCode } from '../../../model/errors.ts'
import type { RecordedPayload } from '../../../model/event.ts'
import { crashLoopError, DEADLINE_ERROR, REAP_MAX, type Reaped, type ReapRequest, type RunStore } from '../../runs.ts'
import type { SqlContext } from '../shared/deps.ts'
import { canMove, eventType, farAhead, isActive, target } from '../shared/guards.ts'
import { awokenParent, EVENT_COLUMNS } from '../shared/owner-moves.ts'
import { runRow } from '../shared/rows.ts'
import { type Param, statement } from '../shared/statement.ts'

export interface ReapValues {
  now: number
  at: string
  /** Of the runs to take back, as a JSON array; `null` for those whose lease is over. */
  tokens: string | null
  /** `null` for no limit. */
  maxRecoveries: number | null
  error: string
  failure: string
  payload: string
  deadlineError: string
  deadlineFailure: string
  deadlinePayload: string
}
type P = Param<ReapValues>
type Fragment = RawBuilder<unknown>

/** Which runs are taken back: those whose lease is over, or those that are held under `tokens`. */
export type ReapedBy = 'lease' | 'tokens'

/** In the order of their leases, each with its `lease_end`. Leases that are over stand at both ends of one index. */
export function lostRuns({ tables: t, syntax }: Pick<SqlContext, 'tables' | 'syntax'>, p: P, by: ReapedBy): Fragment[] {
  const now = syntax.now(p)
  const lost = (from: Fragment, when: Fragment) =>
    sql`SELECT r.id, r.lease_expires_at AS lease_end FROM ${from} WHERE ${canMove('reclaim')} AND ${when}
    ORDER BY r.lease_expires_at, r.${syntax.creationOrder} LIMIT ${sql.lit(REAP_MAX)} ${syntax.skipLocked}`
  if (by === 'tokens') return [lost(sql`${t.runs} AS r`, sql`r.lease_owner IN (SELECT value FROM ${syntax.texts(p('tokens'))} AS named)`)]
  const byLease = sql`${t.runs} AS r ${syntax.by(t.index('runs_lease_end'))}`
  return [lost(byLease, sql`r.lease_expires_at <= ${now}`), lost(byLease, sql`r.lease_expires_at > ${farAhead(now)}`)]
}

type Reclaim = Reaped['move']

/** Of the lost run `r`: what `of` says of the move that it makes. */
function fate(p: P, now: Fragment, of: (move: Reclaim) => Fragment): Fragment {
  return sql`CASE WHEN r.cancel_requested_at IS NOT NULL THEN ${of('reclaimCancelled')} WHEN r.deadline_at <= ${now} THEN ${of('reclaimTimedOut')}
    WHEN r.recoveries >= ${p('maxRecoveries')} THEN ${of('reclaimCrashLoop')} ELSE ${of('reclaim')} END`
}

function ifItEnds(then: Fragment, otherwise: Fragment): (move: Reclaim) => Fragment {
  return (move) => (move === 'reclaim' ? otherwise : then)
}

function ifItFails(timedOut: Fragment, crashLoop: Fragment, otherwise: Fragment): (move: Reclaim) => Fragment {
  return (move) => (move === 'reclaimTimedOut' ? timedOut : move === 'reclaimCrashLoop' ? crashLoop : otherwise)
}

/** What becomes of a lost run. */
export function takenBack(p: P, now: Fragment): Fragment {
  const by = (of: (move: Reclaim) => Fragment) => fate(p, now, of)
  return sql`status = ${by(target)},
        recoveries = ${by(ifItEnds(sql`recoveries`, sql`recoveries + 1`))},
        error = ${by(ifItFails(p('deadlineError'), p('error'), sql`error`))},
        failure = ${by(ifItFails(p('deadlineFailure'), p('failure'), sql`failure`))},
        reason = ${by(ifItFails(sql`'timeout'`, sql`'crash_loop'`, sql`reason`))},
        finished_at = ${by(ifItEnds(now, sql`NULL`))},
        lease_owner = NULL, lease_expires_at = NULL, version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}`
}

export function reapRuns(context: SqlContext): RunStore['reap'] {
  const { session, env } = context
  const lost = reapQueries(context, 'lease')
  const left = reapQueries(context, 'tokens')
  return async (request) => {
    const results = await session.write((request.tokens ? left : lost)(reapValues(env.wall(), request)), 'first')
    const inOrder = results.at(0) ?? []
    const rows = results.at(-1) ?? []
    const reaped = new Map(rows.map((row) => [row.id, toReaped(row)]))
    return inOrder.flatMap(({ id }) => reaped.get(id) ?? [])
  }
}

function reapQueries({ db, tables: t, syntax, eventLog }: SqlContext, by: ReapedBy): (values: ReapValues) => CompiledQuery[] {
  /** Nothing before the update changes a lease, so every statement means the same runs. */
  const lost = (p: P) => {
    const pages = lostRuns({ tables: t, syntax }, p, by).map((page) => sql`SELECT * FROM (${page})`)
    return sql`SELECT id FROM (${sql.join(pages, sql` UNION ALL `)}) LIMIT ${sql.lit(REAP_MAX)}`
  }

  const order = statement<ReapValues>(db, lost)
  const events = statement<ReapValues>(
    db,
    (p) => sql`INSERT INTO ${t.events} (${EVENT_COLUMNS})
      SELECT r.id, r.last_event_sequence + 1,
        ${fate(p, p('now'), eventType)}, ${fate(p, p('now'), ifItFails(p('deadlinePayload'), p('payload'), sql`'{}'`))}, ${p('at')}
      FROM ${t.runs} AS r WHERE r.id IN (${lost(p)})`,
  )
  const parents = statement<ReapValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'), sql`ended.count`)}
      FROM (SELECT r.parent_run_id, count(*) AS count FROM ${t.runs} AS r
        WHERE r.id IN (${lost(p)}) AND ${fate(p, p('now'), ifItEnds(sql`1`, sql`0`))} GROUP BY 1) AS ended
      WHERE r.id = ended.parent_run_id AND ${isActive()}`,
  )
  const update = statement<ReapValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET
        ${takenBack(p, p('now'))}
      WHERE r.id IN (${lost(p)}) RETURNING *`,
  )

  return (values) => [order(values), ...(eventLog ? [events(values)] : []), parents(values), update(values)]
}

export function reapValues(now: number, { maxRecoveries, tokens }: ReapRequest): ReapValues {
  const crashLoop = reapFailure('crash_loop', crashLoopError(maxRecoveries))
  const timeout = reapFailure('timeout', DEADLINE_ERROR)
  return {
    now,
    at: iso(now),
    tokens: tokens ? JSON.stringify(tokens) : null,
    maxRecoveries: Number.isFinite(maxRecoveries) ? maxRecoveries : null,
    ...crashLoop,
    deadlineError: timeout.error,
    deadlineFailure: timeout.failure,
    deadlinePayload: timeout.payload,
  }
}

function reapFailure(code: ErrorCode, error: string) {
  return {
    error,
    failure: JSON.stringify({ name: 'DurablyError', code, message: error }),
    payload: JSON.stringify({ error, failedStepName: '' } satisfies RecordedPayload),
  }
}

export function toReaped(row: Parameters<typeof runRow>[0]): Reaped {
  const run = runRow(row)
  switch (run.status) {
    case 'cancelled':
      return { run, move: 'reclaimCancelled' }
    case 'failed':
      return { run, move: run.reason === 'timeout' ? 'reclaimTimedOut' : 'reclaimCrashLoop' }
    default:
      return { run, move: 'reclaim' }
  }
}
