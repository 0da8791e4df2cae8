// What the reaps of all databases have in common: which runs are lost, and what becomes of each.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RecordedPayload } from '../../../model/event.ts'
import type { RunRow } from '../../../model/run.ts'
import { crashLoopError, DEADLINE_ERROR } from '../../loss-errors.ts'
import { lossOf, REAP_MAX, type Reaped, type ReapRequest } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { canMove, eventType, isOver, RUNNING_INDEX, target } from './guards.ts'
import type { Param } from './statement.ts'

export interface ReapValues {
  now: number
  at: string
  /** The claim tokens of the runs to take back, as a JSON array; `null` for all runs whose lease is over. */
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

/** The lost runs in the order of their leases, each with its `lease_end`. Only running ones are read, and sorted: there are few at any time. */
export function lostRuns({ tables: t, syntax }: Pick<SqlDeps, 'tables' | 'syntax'>, p: P, by: ReapedBy): Fragment {
  const now = syntax.now(p)
  const lost = (from: Fragment, when: Fragment) =>
    sql`SELECT r.id, r.lease_expires_at AS lease_end FROM ${from} WHERE ${canMove('reclaim')} AND ${when}
    ORDER BY r.lease_expires_at, r.${syntax.creationOrder} LIMIT ${sql.lit(REAP_MAX)} ${syntax.skipLocked}`
  if (by === 'tokens')
    return lost(
      sql`${t.runs} AS r ${syntax.by(t.index('runs_lease_owner'))}`,
      sql`r.lease_owner IN (SELECT value FROM ${syntax.texts(p('tokens'))} AS named)`,
    )
  return lost(sql`${t.runs} AS r ${syntax.by(t.index(RUNNING_INDEX))}`, isOver(sql`r.lease_expires_at`, now))
}

type Reclaim = Reaped['move']

/** The owner of the lost run `r` may still come back, and the run is not marked yet. */
function isSpared(now: Fragment, by: ReapedBy): Fragment {
  return by === 'tokens'
    ? sql`false`
    : sql`r.continuation_state IS NULL AND r.lease_expires_at <= ${now} AND ${now} < r.lease_expires_at + r.confirm_ms`
}

/** What `of` returns for the move that the lost run `r` makes. */
function fate(p: P, now: Fragment, by: ReapedBy, of: (move: Reclaim) => Fragment): Fragment {
  return sql`CASE WHEN ${isSpared(now, by)} THEN ${of('confirm')} WHEN r.cancel_requested_at IS NOT NULL THEN ${of('reclaimCancelled')} WHEN r.deadline_at <= ${now} THEN ${of('reclaimTimedOut')}
    WHEN r.recoveries >= CAST(${p('maxRecoveries')} AS bigint) THEN ${of('reclaimCrashLoop')} ELSE ${of('reclaim')} END`
}

function ifItEnds(then: Fragment, otherwise: Fragment): (move: Reclaim) => Fragment {
  return (move) => (move === 'reclaim' || move === 'confirm' ? otherwise : then)
}

function ifItFails(timedOut: Fragment, crashLoop: Fragment, otherwise: Fragment): (move: Reclaim) => Fragment {
  return (move) => (move === 'reclaimTimedOut' ? timedOut : move === 'reclaimCrashLoop' ? crashLoop : otherwise)
}

/** The type and the payload of the event of the lost run `r`, before it is taken back. */
export function reclaimEvent(p: P, now: Fragment, by: ReapedBy): Fragment {
  return sql`${fate(p, now, by, eventType)}, ${fate(p, now, by, ifItFails(p('deadlinePayload'), p('payload'), sql`'{}'`))}`
}

/** 1 if the lost run `r` will end. */
export function reclaimEnds(p: P, now: Fragment, by: ReapedBy): Fragment {
  return fate(p, now, by, ifItEnds(sql`1`, sql`0`))
}

/** What a reap changes in the row of a lost run. */
export function takenBack(p: P, now: Fragment, by: ReapedBy): Fragment {
  const perMove = (of: (move: Reclaim) => Fragment) => fate(p, now, by, of)
  const ifSpared = (then: Fragment) => sql`CASE WHEN ${isSpared(now, by)} THEN ${then} END`
  const deadline = ifSpared(sql`r.lease_expires_at + r.confirm_ms`)
  return sql`status = ${perMove(target)},
        recoveries = recoveries + ${perMove((move) => (move === 'reclaim' ? sql`1` : sql`0`))},
        error = ${perMove(ifItFails(p('deadlineError'), p('error'), sql`error`))},
        failure = ${perMove(ifItFails(p('deadlineFailure'), p('failure'), sql`failure`))},
        reason = ${perMove(ifItFails(sql`'timeout'`, sql`'crash_loop'`, sql`reason`))},
        finished_at = ${perMove(ifItEnds(now, sql`NULL`))},
        lease_owner = ${ifSpared(sql`r.lease_owner`)}, lease_expires_at = ${deadline}, continuation_check_deadline_at = ${deadline},
        continuation_state = ${ifSpared(sql`'CONFIRMING'`)}, assigned_worker_id = ${ifSpared(sql`r.assigned_worker_id`)}, assigned_at = ${ifSpared(sql`r.assigned_at`)},
        version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}`
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

function reapFailure(code: 'crash_loop' | 'timeout', error: string) {
  const failure = lossOf(code, error)
  return {
    error,
    failure: JSON.stringify(failure),
    payload: JSON.stringify({ error, failure, failedStepName: '' } satisfies RecordedPayload),
  }
}

export function toReaped(run: RunRow): Reaped {
  switch (run.status) {
    case 'cancelled':
      return { run, move: 'reclaimCancelled' }
    case 'failed':
      return { run, move: run.reason === 'timeout' ? 'reclaimTimedOut' : 'reclaimCrashLoop' }
    case 'running':
      return { run, move: 'confirm' }
    default:
      return { run, move: 'reclaim' }
  }
}
