// OwnerWrite — what the owner of a lease may write, as data.
//   W1. A write is accepted only while `id AND status='running' AND lease_generation AND lease_owner` match: the fence.
//   W2. Numbers grow within a lease. A number that is not above the last accepted one was already applied:
//       the answer is ok and nothing is written, so a write whose outcome is unknown is simply sent again.
//       (A refused step stays refused, also when a later number was accepted: its row is not there.)
//   W3. Events, log lines, progress and open streams that gathered since the last write are written with it.

import { iso } from '../model/env.ts'
import type { EventType, RecordedEvent, RecordedPayload } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { FailureReason } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import { type Move, TRANSITIONS } from '../model/transitions.ts'

/** Names one claim of a run. Every write of its owner carries it, and is refused if the run is held under another claim. */
export interface Claim {
  /** The run that was claimed. */
  runId: string
  /** The lease generation that the claim gave to the run. */
  generation: number
  /** The token of the claim, unique for ever. */
  token: string
  /** The run that is woken when this one ends; null if it has no parent. */
  parentRunId?: string | null
  /** The epoch of the leader that chose the worker, as the claim has found it; null if none did. The run must still have it when it ends. */
  leaderEpoch?: number | null
}

/** One write of the worker that holds a run. It is applied as a whole, or refused if another claim holds the run. */
export interface OwnerWrite {
  /** The claim under which it is written. */
  claim: Claim
  /** Grows by one with each write of a lease. A number that was already applied changes nothing, so a write may be sent again. */
  number: number
  /** What is written. */
  verb: OwnerVerb
  /** Events that are added to the log of the run with it. */
  events: readonly RecordedEvent[]
  /** Log lines that are added with it. */
  logs: readonly LogRow[]
  /** The progress of the run, encoded; null leaves it as it is. */
  progress: string | null
  /** The streams of the run that are not recorded yet, encoded; null leaves them as they are. */
  streams: string | null
  /** The effects of the run that have begun and are not recorded, encoded; null leaves them as they are. */
  effects: string | null
}

/** What the worker that holds a run can write. All but the first two end the lease. */
export type OwnerVerb =
  /** Renews the lease. */
  | { type: 'heartbeat'; leaseMs: number }
  /** Records a step and renews the lease. */
  | {
      type: 'recordStep'
      leaseMs: number
      step: StepRow
      /** Its chunks so far are replaced by the one that is attached to this write. */
      endsStream?: boolean
      /** It has failed and is tried again later. */
      willRetry?: boolean
    }
  /** The run completed. */
  | { type: 'complete'; output: string | null }
  /** The run failed for good. */
  | { type: 'fail'; error: string; failure: string; reason: FailureReason; failedStepName: string }
  /** The worker stops and gives the run back. */
  | { type: 'release' }
  /** The attempt has failed; the next one is due at `runAt`, unless a cancel came meanwhile. */
  | { type: 'retryLater'; runAt: number; error: string; failure: string; attempt: number; waitingFor: string }
  /** The run waits. It goes on at `runAt`, or at once if a cancel or more than `signals` signals came meanwhile. */
  | { type: 'park'; runAt: number; waitingFor: string; signals: number }
  /** The run was asked to stop, and has: it ends as cancelled. */
  | { type: 'abandon' }

/**
 * Whether a write was applied (`ok`), and then whether the run was asked to stop. A refused write means that another claim holds the run,
 * or none does.
 */
export type WriteOutcome = { ok: true; cancelRequested: boolean } | { ok: false }

/** Verbs that end the lease. */
export type EndingVerb = Extract<OwnerVerb, { type: Move }>

export function endsLease(verb: OwnerVerb): verb is EndingVerb {
  return verb.type in TRANSITIONS
}

/** All events of a write in their order: what gathered, then the verb's own. */
export function eventsOf(write: OwnerWrite, createdAt: string): RecordedEvent[] {
  const { verb, claim, events } = write
  if (verb.type === 'heartbeat') return [...events]
  const own = { type: ownEventType(verb), payload: ownPayload(verb, claim), createdAt }
  return events.length === 0 ? [own] : [...events, own]
}

/** All but a heartbeat have an event of their own. */
export type EventfulVerb = Exclude<OwnerVerb, { type: 'heartbeat' }>

export function ownEventType(verb: EventfulVerb): EventType {
  if (verb.type === 'recordStep') return verb.step.status === 'completed' ? 'step:complete' : 'step:fail'
  return eventOf(verb.type)
}

export function ownPayload(verb: EventfulVerb, { generation }: Claim): RecordedPayload {
  switch (verb.type) {
    case 'recordStep':
      return verb.willRetry ? { generation, stepId: verb.step.id, willRetry: true } : { generation, stepId: verb.step.id }
    case 'fail':
      return { generation, error: verb.error, failure: JSON.parse(verb.failure), failedStepName: verb.failedStepName }
    case 'retryLater':
      return { generation, error: verb.error, attempt: verb.attempt, runAt: iso(verb.runAt) }
    case 'park':
      return { generation, runAt: iso(verb.runAt) }
    default:
      return { generation }
  }
}

export function eventOf(move: Move): EventType {
  return TRANSITIONS[move].event
}
