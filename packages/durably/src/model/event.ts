// Event — what listeners and readers of the event log get. The union is seed 000's seven, and what else its users need.
// `on()` listeners get the full shape; the event log keeps a reference to the row that holds the value (RecordedEvent).
import type { Failure } from './failure.ts'
import type { LogLevel } from './log.ts'
import type { Progress } from './run.ts'

interface BaseEvent {
  type: string
  timestamp: string
  /** Counts the events of one Durably instance. */
  sequence: number
}

interface RunEvent extends BaseEvent {
  runId: string
  jobName: string
}

/** A new run was stored. */
export interface RunTriggerEvent extends RunEvent {
  type: 'run:trigger'
  payload: unknown
}

/** A worker claimed the run. */
export interface RunStartEvent extends RunEvent {
  type: 'run:start'
  payload: unknown
}

/** Progress is stored: the last `ctx.progress` before a write of the run, at most 100 ms later. */
export interface RunProgressEvent extends RunEvent {
  type: 'run:progress'
  progress: Progress
}

/** The run completed. */
export interface RunCompleteEvent extends RunEvent {
  type: 'run:complete'
  output: unknown
  /** Milliseconds since the run first started. */
  duration: number
}

/** The run failed. */
export interface RunFailEvent extends RunEvent {
  type: 'run:fail'
  error: string
  /** The whole error: its name, code, stack and causes. */
  failure: Failure
  /** Empty when no step failed. */
  failedStepName: string
}

/** The run was cancelled. */
export interface RunCancelEvent extends RunEvent {
  type: 'run:cancel'
}

/** A failed run was sent back by hand, or an attempt failed and the next one is due later. */
export interface RunRetryEvent extends RunEvent {
  type: 'run:retry'
  /** What the attempt failed with; absent when it was sent back by hand. */
  error?: string
  /** How many attempts have failed. */
  attempt?: number
  /** When the next one is due. */
  runAt?: string
}

/** The run is parked: it sleeps, or a step is tried again later. It holds no slot meanwhile. */
export interface RunWaitEvent extends RunEvent {
  type: 'run:wait'
  runAt: string
}

/** A stopping worker gave the run back. */
export interface RunReleaseEvent extends RunEvent {
  type: 'run:release'
}

/** A lost worker's run was taken back. */
export interface RunReclaimEvent extends RunEvent {
  type: 'run:reclaim'
}

interface StepEvent extends RunEvent {
  stepName: string
  stepIndex: number
}

/** Before a step's function is called. */
export interface StepStartEvent extends StepEvent {
  type: 'step:start'
}

/** The step was recorded. */
export interface StepCompleteEvent extends StepEvent {
  type: 'step:complete'
  output: unknown
  duration: number
}

/** The step threw, and that was recorded. */
export interface StepFailEvent extends StepEvent {
  type: 'step:fail'
  error: string
  /** The whole error: its name, code, stack and causes. */
  failure: Failure
  /** By the policy of the step. False when the job gets the error. */
  willRetry: boolean
}

/** `ctx.log` was called. */
export interface LogWriteEvent extends BaseEvent {
  type: 'log:write'
  runId: string
  stepName: string | null
  level: LogLevel
  message: string
  data: unknown
}

/** Output of a step that is still running, or all of it once the step is recorded. */
export interface StreamChunkEvent extends RunEvent {
  type: 'stream:chunk'
  stepName: string
  /** Where it begins; what stood there is overwritten (model/chunks.ts, F1). */
  from: number
  chunks: readonly unknown[]
  /** The checkpoint that came with it; when it begins at 0, the last one, if there was one. */
  checkpoint?: { state: unknown }
}

/** An attempt was superseded: what it had put out after its last checkpoint does not count. */
export interface StreamResetEvent extends RunEvent {
  type: 'stream:reset'
  stepName: string
  /** How much of it stays. */
  to: number
}

/** The worker met something that is not a job's fault; it goes on by itself. */
export interface WorkerErrorEvent extends BaseEvent {
  type: 'worker:error'
  error: string
  /** The error itself, with its code and cause. */
  cause: unknown
  runId: string | null
}

/** `leading`: of the instances that share the database this one executes now. `waiting`: another one does. */
export type LeadState = 'leading' | 'waiting'

/** Only where one of several instances executes, as among the tabs of a browser. */
export interface WorkerLeadEvent extends BaseEvent {
  type: 'worker:lead'
  state: LeadState
  runId: null
}

export type DurablyEvent =
  | RunTriggerEvent
  | RunStartEvent
  | RunProgressEvent
  | RunCompleteEvent
  | RunFailEvent
  | RunCancelEvent
  | RunRetryEvent
  | RunReleaseEvent
  | RunWaitEvent
  | RunReclaimEvent
  | StepStartEvent
  | StepCompleteEvent
  | StepFailEvent
  | LogWriteEvent
  | StreamChunkEvent
  | StreamResetEvent
  | WorkerErrorEvent
  | WorkerLeadEvent

/** An event of one run, as its log has it; `sequence` is its place in that log. */
export type RunLogEvent = Exclude<DurablyEvent, WorkerErrorEvent | WorkerLeadEvent>

export type EventType = DurablyEvent['type']
export type EventOf<T extends EventType> = Extract<DurablyEvent, { type: T }>

export const EVENT_TYPES = [
  'run:trigger',
  'run:start',
  'run:progress',
  'run:complete',
  'run:fail',
  'run:cancel',
  'run:retry',
  'run:release',
  'run:wait',
  'run:reclaim',
  'step:start',
  'step:complete',
  'step:fail',
  'log:write',
  'stream:chunk',
  'stream:reset',
  'worker:error',
  'worker:lead',
] as const satisfies EventType[]

/** An event as the log keeps it: no value that already stands in another row. */
export interface RecordedEvent {
  type: EventType
  payload: RecordedPayload
  createdAt: string
}

/** `generation` says which owner wrote it; the rest names the row that holds the values. */
export interface RecordedPayload {
  generation?: number
  stepId?: string
  stepName?: string
  stepIndex?: number
  logId?: string
  progress?: Progress
  error?: string
  failure?: Failure
  failedStepName?: string
  willRetry?: boolean
  attempt?: number
  runAt?: string
  from?: number
  to?: number
  /** Encoded. */
  chunks?: string | null
  /** Encoded. */
  state?: string | null
}

export interface EventRow {
  runId: string
  /** Counts from 1 within a run, in the order of commits; the only gaps are chunks of a stream that was recorded. */
  seq: number
  type: EventType
  payload: string
  createdAt: string
}
