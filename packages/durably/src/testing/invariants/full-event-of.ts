import { fullEvent } from '../../events/full-event.ts'
import { jsonCodec } from '../../model/codec.ts'
import type { EventRow, RecordedPayload, RunLogEvent } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'

const codec = jsonCodec()
const NO_LOGS = new Map()

/** An event as a client gets it; `null` for a log line, and for a step whose row is not there, which is a violation of I7. */
export function fullEventOf(run: RunRow, steps: readonly StepRow[], event: EventRow, payload: RecordedPayload): RunLogEvent | null {
  const step = payload.stepId === undefined ? undefined : steps.find(({ id }) => id === payload.stepId)
  if (event.type === 'log:write' || (payload.stepId !== undefined && !step)) return null
  return fullEvent({ run, codec, steps: new Map(step && [[step.id, step]]), logs: NO_LOGS }, event, payload)
}
