// The events that an owner write puts into the log.
import { iso } from '../model/env.ts'
import type { EventType, RecordedEvent, RecordedPayload } from '../model/event.ts'
import { type Move, TRANSITIONS } from '../model/transitions.ts'
import type { Claim, OwnerVerb, OwnerWrite } from './owner-write.ts'

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
      return { generation, stepId: verb.step.id }
    case 'fail':
      return { generation, error: verb.error, failedStepName: verb.failedStepName }
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
