// What owner writes change in the row of their run, and when a step may be recorded.
import { type RawBuilder, sql } from 'kysely'
import { isTerminal } from '../../../model/run.ts'
import { type Move, TRANSITIONS } from '../../../model/transitions.ts'
import type { OwnerVerb, WriteOutcome } from '../../owner-write.ts'
import type { SqlDeps } from './deps.ts'
import { cancelOf, isMine, target } from './guards.ts'
import type { WriteValues } from './owner-values.ts'
import type { Row } from './session.ts'
import type { Param } from './statement.ts'

type P = Param<WriteValues>
type Fragment = RawBuilder<unknown>

/** A failed step changes no more than a heartbeat does. */
export type OwnerMove = 'renew' | 'completeStep' | 'complete' | 'fail' | 'release' | 'retryLater' | 'park' | 'abandon'

export function moveOf(verb: OwnerVerb): OwnerMove {
  if (verb.type === 'heartbeat') return 'renew'
  if (verb.type === 'recordStep') return verb.step.status === 'completed' ? 'completeStep' : 'renew'
  return verb.type
}

/** The SET clause of a write. */
export function movedRun(move: OwnerMove, t: SqlDeps['tables'], p: P, now: Fragment): Fragment {
  return sql`${moved(move, t, p, now)}, lease_writes = ${p('number')}, progress = coalesce(${p('progress')}, r.progress), streams = coalesce(${p('streams')}, r.streams), effects = coalesce(${p('effects')}, r.effects),
          last_event_sequence = last_event_sequence + ${p('eventCount')}, updated_at = ${p('at')}`
}

function moved(move: OwnerMove, t: SqlDeps['tables'], p: P, now: Fragment): Fragment {
  /** The owner is back, if it was away. */
  const noMark = sql`continuation_state = NULL, continuation_check_deadline_at = NULL`
  const renew = sql`lease_expires_at = ${now} + ${p('leaseMs')}, heartbeat_at = ${p('at')}, ${noMark}`
  const letGo = sql`lease_owner = NULL, lease_expires_at = NULL, assigned_worker_id = NULL, assigned_at = NULL, ${noMark}, version = version + 1`
  const finish = sql`${letGo}, finished_at = ${now}`
  /** A run that was asked to stop meanwhile, or got what it waits for, is claimed at once. */
  const due = () =>
    sql`run_at = CASE WHEN ${cancelOf(t)} IS NULL AND r.signals <= coalesce(${p('signals')}, r.signals) THEN ${p('runAt')} ELSE run_at END, waiting_for = ${p('waitingFor')}`
  const failure = () => sql`attempts = attempts + 1, error = ${p('error')}, failure = ${p('failure')}`
  switch (move) {
    case 'renew':
      return renew
    case 'completeStep':
      return sql`${renew}, current_step_index = current_step_index + 1, recoveries = 0`
    case 'complete':
      return sql`status = ${target('complete')}, output = ${p('output')}, error = NULL, failure = NULL, reason = NULL, ${finish}`
    case 'fail':
      return sql`status = ${target('fail')}, ${failure()}, reason = ${p('reason')}, ${finish}`
    case 'release':
      return sql`status = ${target('release')}, ${letGo}`
    case 'retryLater':
      return sql`status = ${target('retryLater')}, ${failure()}, ${due()}, ${letGo}`
    case 'park':
      return sql`status = ${target('park')}, ${due()}, ${letGo}`
    case 'abandon':
      // The request may be in the parent's row alone; then it is copied for the runs below.
      return sql`status = ${target('abandon')}, cancel_requested_at = ${cancelOf(t)}, ${finish}`
  }
}

export function endsRun(move: OwnerMove): boolean {
  return move in TRANSITIONS && isTerminal(TRANSITIONS[move as Move].to)
}

/** What the end of so many children changes in their parent: they count as signals, and it is due if it waits for a child. */
export function awokenParent(now: Fragment, ended: Fragment = sql`1`): Fragment {
  return sql`signals = r.signals + ${ended},
    run_at = CASE WHEN r.status = 'pending' AND r.run_at > ${now} AND r.waiting_for LIKE '%"kind":"child"%' THEN ${now} ELSE r.run_at END`
}

/** W1, W2, and a step completes once: a write that would record it again is refused as a whole. */
export function isAccepted(move: OwnerMove, { tables: t }: Pick<SqlDeps, 'tables'>, p: P): Fragment {
  if (endsRun(move)) return sql`${isMine(p)} AND coalesce(r.leader_epoch, 0) = coalesce(${p('leaderEpoch')}, 0)`
  if (move !== 'completeStep') return isMine(p)
  return sql`${isMine(p)}
      AND NOT EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.run_id = r.id AND s.name = ${p('stepName')} AND s.status = 'completed')
      AND NOT EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.id = ${p('stepId')})`
}

/** W2: the run `r` has this write already. */
export function wasApplied({ tables: t }: Pick<SqlDeps, 'tables'>, p: P): Fragment {
  return sql`r.id = ${p('runId')} AND r.lease_generation = ${p('generation')} AND (r.lease_owner IS NULL OR r.lease_owner = ${p('token')})
          AND r.lease_writes >= ${p('number')}
          AND (CAST(${p('stepId')} AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.id = ${p('stepId')} AND s.run_id = r.id))`
}

export function outcomeOf(run: Row | undefined): WriteOutcome {
  return run ? { ok: true, cancelRequested: run.cancel_requested_at !== null } : { ok: false }
}

export const STEP_EVENTS = sql`'step:complete', 'step:fail'`
/** The events of a stream before its step was recorded. */
export const STREAM_EVENTS = sql`'stream:chunk', 'stream:reset'`
