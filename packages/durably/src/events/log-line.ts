// How events become lines of the `logs` table when `withLogPersistence()` is on.
// A value that is stored in a run or a step is not stored a second time.
import { isStreamEvent } from '../model/chunks.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { Log, LogLevel } from '../model/log.ts'

/** A line for the `logs` table, as a plugin writes it with `persistEvent`. */
export type LogLine = Omit<Log, 'id'>

/** `null` for an event that belongs to no run, and for one of a stream: its output is in the event log. */
export function logLineOf(event: DurablyEvent): LogLine | null {
  if (event.runId === null || isStreamEvent(event.type)) return null
  const { runId, timestamp } = event
  if (event.type === 'log:write') {
    return { runId, timestamp, stepName: event.stepName, level: event.level, message: event.message, data: event.data }
  }
  const stepName = 'stepName' in event ? event.stepName : null
  return { runId, timestamp, stepName, level: levelOf(event), message: event.type, data: dataOf(event) }
}

function levelOf(event: DurablyEvent): LogLevel {
  switch (event.type) {
    case 'run:fail':
    case 'step:fail':
    case 'worker:error':
      return 'error'
    case 'run:reclaim':
    case 'run:cancel':
      return 'warn'
    default:
      return 'info'
  }
}

function dataOf(event: Exclude<DurablyEvent, { type: 'log:write' }>): unknown {
  switch (event.type) {
    case 'run:progress':
      return event.progress
    case 'run:complete':
      return { duration: event.duration }
    case 'run:fail':
      return { error: event.error, failedStepName: event.failedStepName }
    case 'step:start':
      return { stepIndex: event.stepIndex }
    case 'step:complete':
      return { stepIndex: event.stepIndex, duration: event.duration }
    case 'step:fail':
      return { stepIndex: event.stepIndex, error: event.error }
    case 'worker:error':
      return { error: event.error }
    default:
      return undefined
  }
}
