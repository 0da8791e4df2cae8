// Queue — the port of seed 003: what a program asks of its task queue, whatever store keeps the tasks.
import type { TriggerOptions } from '../client/trigger.ts'
import type { Unsubscribe } from '../events/emitter.ts'
import type { Duration } from '../model/duration.ts'
import type { CancelOutcome } from '../store/runs.ts'
import type { TaskStateChange } from './state-change.ts'
import type { TaskHandler } from './task-handler.ts'
import type { TaskRecord, TaskRef } from './task-record.ts'
import type { FinishedState, TaskState } from './task-state.ts'

export interface Queue extends AsyncDisposable {
  /** From now on this process executes tasks of that type; those that wait already, too. */
  register<TPayload, TInput = TPayload>(handler: TaskHandler<TPayload, TInput>): RegisteredTask<TInput>
  /** Stores a task. Its type need not be registered, here or anywhere: then it waits. */
  enqueue(request: EnqueueRequest): Promise<TaskRecord>
  /** `null` when there is no such task, or no longer. */
  getStatus(task: TaskRef): Promise<TaskRecord | null>
  /** How many tasks are in each state. Counts them all: for a dashboard, not for a hot path. */
  countsByState(): Promise<Record<TaskState, number>>
  /** Newest first. */
  list(request?: PageRequest): Promise<Page>
  /** What this process does to tasks, told at once. A listener that throws harms nobody: `error` listeners hear of it. */
  on<T extends keyof TaskQueueEvents>(event: T, listener: (event: TaskQueueEvents[T]) => unknown): Unsubscribe
  /** A waiting task is `Cancelled` at once; a running one is asked to stop by its signal, and is `Cancelled` when it has. */
  cancel(task: TaskRef): Promise<CancelOutcome['outcome']>
  /** A `Dead` task is `Queued` again, with all its attempts before it. */
  redrive(task: TaskRef): Promise<TaskRecord>
  /** The same for all that are `Dead` now; answers how many. */
  redriveAll(options?: RedriveOptions): Promise<number>
  /** Removes tasks that finished longer ago than that; answers how many. */
  purge(options: PurgeTasks): Promise<number>
  /** Creates or updates the tables; nothing to do in memory. */
  migrate(): Promise<void>
  start(): void
  /** Waits for the tasks in hand. With `timeout` (ms) they are then asked to stop and `Queued` again; it costs them no attempt. */
  stop(options?: { timeout?: number }): Promise<void>
}

export interface RegisteredTask<TInput> {
  readonly taskType: string
  enqueue(payload: TInput, options?: TriggerOptions): Promise<TaskRecord>
}

export interface EnqueueRequest extends TriggerOptions {
  taskType: string
  /** What JSON can hold, and `Date`, `Map`, `Set`, `BigInt` and bytes. */
  payload: unknown
}

export interface PageRequest {
  state?: TaskState
  taskType?: string
  /** Default 100. */
  limit?: number
  /** That of the page before. */
  cursor?: string | null
}

export interface Page {
  tasks: TaskRecord[]
  /** `null` when there are no more. */
  cursor: string | null
}

export interface RedriveOptions {
  taskType?: string
}

export interface PurgeTasks {
  olderThan: Duration
  /** Default: all three. */
  state?: FinishedState | readonly FinishedState[]
  limit?: number
}

export interface TaskQueueEvents {
  stateChange: TaskStateChange
  /** Something that is no handler's fault: a store that is away, a listener or a logger that threw. The queue goes on. */
  error: { readonly error: unknown; readonly taskId: string | null }
}
