// Event — what listeners and readers of the event log get. The union is seed 000's seven, and what else its users need.
// `on()` listeners get the full shape; the event log keeps a reference to the row that holds the value (RecordedEvent).
import type { Failure } from './failure.ts'
import type { LogLevel } from './log.ts'
import type { Progress } from './run.ts'

interface BaseEvent {
  /** The name of the event, for `on()`. */
  type: string
  /** When it happened, as ISO-8601 text. */
  timestamp: string
  /** From `on()`: counts the events of this instance, from 1. From `subscribe()`: the place of the event in the log of its run. */
  sequence: number
}

interface RunEvent extends BaseEvent {
  /** The run that it is about. */
  runId: string
  /** The job of that run. */
  jobName: string
}

/** A new run was stored. */
export interface RunTriggerEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:trigger'
  /** The input of the run. */
  payload: unknown
}

/** A worker claimed the run and begins to execute it; also after a wait or a crash. */
export interface RunStartEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:start'
  /** The input of the run. */
  payload: unknown
  /** The worker that executes it: its option `workerId`. Null in the log of a run that started before this was recorded. */
  workerId: string | null
}

/** Progress was stored: the last report of `ctx.progress` within 100 ms. */
export interface RunProgressEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:progress'
  /** What was reported: `current`, and `total` and `message` if they are known. */
  progress: Progress
}

/** The run completed. */
export interface RunCompleteEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:complete'
  /** What the job returned. */
  output: unknown
  /** Milliseconds from the first start of the run to its end, by the store's clock. */
  duration: number
}

/** The run failed, and is not tried again by itself. */
export interface RunFailEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:fail'
  /** The message of the error. */
  error: string
  /** The whole error: its name, code, stack and causes. */
  failure: Failure
  /** The name of the step whose error made the run fail; empty if it was no step. */
  failedStepName: string
}

/** The run ended as cancelled. */
export interface RunCancelEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:cancel'
}

/** An attempt failed and the next one is due later, or a failed run was put back with `retry()`. */
export interface RunRetryEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:retry'
  /** The message of the error that the attempt failed with; absent if `retry()` was called. */
  error?: string
  /** How many attempts have failed; absent if `retry()` was called. */
  attempt?: number
  /** When the next attempt is due, as ISO-8601 text; absent if `retry()` was called. */
  runAt?: string
}

/** The run waits for a time, a signal, another run, or the next attempt of a step. It holds no slot meanwhile. */
export interface RunWaitEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:wait'
  /** When the run goes on, as ISO-8601 text; in the year 9999 if only a signal or another run can end the wait. */
  runAt: string
}

/** A worker that stops gave the run back, so that another one can continue it. */
export interface RunReleaseEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:release'
}

/** The worker of the run was lost, and the run was put back to `pending`. */
export interface RunReclaimEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:reclaim'
}

/** The lease of the run is over, and its worker may still come back: until `confirmFor` has passed, no other worker takes the run. */
export interface RunConfirmEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:confirm'
}

/** A leader has chosen the worker of the run (`dispatch: 'leader'`). */
export interface RunAssignEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:assign'
  /** The worker that was chosen. */
  workerId: string
}

/** The worker that was chosen for the run did not start it and is gone: a leader will choose another one. */
export interface RunOrphanEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'run:orphan'
  /** The worker that was taken away. */
  workerId: string
}

interface StepEvent extends RunEvent {
  /** The name of the step. */
  stepName: string
  /** The order in which the job called its steps, from 0. */
  stepIndex: number
}

/** The function of a step is about to be called. */
export interface StepStartEvent extends StepEvent {
  /** The name of the event, for `on()`. */
  type: 'step:start'
}

/** The result of a step was recorded. */
export interface StepCompleteEvent extends StepEvent {
  /** The name of the event, for `on()`. */
  type: 'step:complete'
  /** What the function of the step returned. */
  output: unknown
  /** How long the step took, in milliseconds. */
  duration: number
}

/** The function of a step threw, and that was recorded. */
export interface StepFailEvent extends StepEvent {
  /** The name of the event, for `on()`. */
  type: 'step:fail'
  /** The message of the error. */
  error: string
  /** The whole error: its name, code, stack and causes. */
  failure: Failure
  /** Whether the step is tried again by its policy. If false, the job function gets the error. */
  willRetry: boolean
}

/** A job or a step wrote a log line with `log`. */
export interface LogWriteEvent extends BaseEvent {
  /** The name of the event, for `on()`. */
  type: 'log:write'
  /** The run that wrote the line. */
  runId: string
  /** The step that wrote it; null outside of steps. */
  stepName: string | null
  /** `info`, `warn` or `error`. */
  level: LogLevel
  /** The text. */
  message: string
  /** The data that came with it; undefined if there was none. */
  data: unknown
}

/** A `ctx.stream` step emitted output; once the step is recorded, one event has all of it. */
export interface StreamChunkEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'stream:chunk'
  /** The name of the `ctx.stream` step. */
  stepName: string
  /** The position of the first chunk in the output of the step. What was at this position and after it is replaced. */
  from: number
  /** The new chunks; adjacent texts are joined into one. */
  chunks: readonly unknown[]
  /** The checkpoint that was made with these chunks. If `from` is 0, the last checkpoint of the step, if there was one. */
  checkpoint?: { state: unknown }
}

/** An attempt of a `ctx.stream` step did not finish: its output after the last checkpoint is not valid. */
export interface StreamResetEvent extends RunEvent {
  /** The name of the event, for `on()`. */
  type: 'stream:reset'
  /** The name of the `ctx.stream` step. */
  stepName: string
  /** How many chunks remain valid; the rest is to be removed. */
  to: number
}

/** The worker met an error that no job caused, such as a database that cannot be reached. It goes on by itself. */
export interface WorkerErrorEvent extends BaseEvent {
  /** The name of the event, for `on()`. */
  type: 'worker:error'
  /** The message of the error. */
  error: string
  /** The error itself, with its code and cause. */
  cause: unknown
  /** The run that it is about; null if it is about no single run. */
  runId: string | null
}

/** `leading`: of the instances that share the database, this one executes now. `waiting`: another one does. */
export type LeadState = 'leading' | 'waiting'

/** Among instances of which only one executes, such as the tabs of a browser: this one begins to execute, or waits for its turn. */
export interface WorkerLeadEvent extends BaseEvent {
  /** The name of the event, for `on()`. */
  type: 'worker:lead'
  /** Whether this instance executes now. */
  state: LeadState
  /** Always null: the event is about no run. */
  runId: null
}

/** Any event that `on()` can deliver. */
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
  | RunConfirmEvent
  | RunAssignEvent
  | RunOrphanEvent
  | StepStartEvent
  | StepCompleteEvent
  | StepFailEvent
  | LogWriteEvent
  | StreamChunkEvent
  | StreamResetEvent
  | WorkerErrorEvent
  | WorkerLeadEvent

/** Any event of one run, as `subscribe()` yields it. `sequence` is its place in the log of that run. */
export type RunLogEvent = Exclude<DurablyEvent, WorkerErrorEvent | WorkerLeadEvent>

/** The name of an event, such as `run:complete`. */
export type EventType = DurablyEvent['type']
/** The event with this name. */
export type EventOf<T extends EventType> = Extract<DurablyEvent, { type: T }>

/** The names of all events. */
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
  'run:confirm',
  'run:assign',
  'run:orphan',
  'step:start',
  'step:complete',
  'step:fail',
  'log:write',
  'stream:chunk',
  'stream:reset',
  'worker:error',
  'worker:lead',
] as const satisfies EventType[]

/** An event as the event log keeps it: values that are in another row, such as a step's output, are not repeated. */
export interface RecordedEvent {
  /** The name of the event. */
  type: EventType
  /** What the log keeps of it. */
  payload: RecordedPayload
  /** When it happened, as ISO-8601 text. */
  createdAt: string
}

/** What the log keeps of an event. Which fields are there depends on its type. */
export interface RecordedPayload {
  /** The generation of the lease of the worker that wrote it. */
  generation?: number
  /** The name of the worker that claimed the run, was chosen for it or taken away. */
  workerId?: string | null
  /** The id of the step row that has the values. */
  stepId?: string
  /** The name of the step. */
  stepName?: string
  /** The order in which the job called the step, from 0. */
  stepIndex?: number
  /** The id of the log row that has the line. */
  logId?: string
  /** The progress that was reported. */
  progress?: Progress
  /** The message of the error. */
  error?: string
  /** The whole error. */
  failure?: Failure
  /** The step whose error made the run fail. */
  failedStepName?: string
  /** Whether the step is tried again. */
  willRetry?: boolean
  /** How many attempts have failed. */
  attempt?: number
  /** When the run is due, as ISO-8601 text. */
  runAt?: string
  /** The position of the first chunk in the output of the stream. */
  from?: number
  /** How many chunks of the stream remain valid. */
  to?: number
  /** The chunks of the stream, encoded. */
  chunks?: string | null
  /** The state of the checkpoint, encoded. */
  state?: string | null
}

/** A row of the event log. */
export interface EventRow {
  /** The run that it is about. */
  runId: string
  /**
   * Counts the events of the run from 1, in the order of commits. Gaps arise only where chunks of a stream were replaced when its step was
   * recorded.
   */
  seq: number
  /** The name of the event. */
  type: EventType
  /** What the log keeps of it, as JSON. */
  payload: string
  /** When it happened, as ISO-8601 text. */
  createdAt: string
}
