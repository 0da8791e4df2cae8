// Queue — the interface of seed 003: what a program can do with its task queue, on any store.

import type { Unsubscribe } from '../events/emitter.ts'
import type { StartOptions } from '../lifecycle.ts'
import type { Duration } from '../model/duration.ts'
import type { TriggerOptions } from '../runs/trigger.ts'
import type { CancelOutcome } from '../store/runs.ts'
import type { TaskStateChange } from './state-change.ts'
import type { TaskHandler } from './task-handler.ts'
import type { TaskRecord, TaskRef } from './task-record.ts'
import type { FinishedState, TaskState } from './task-state.ts'

export interface Queue extends AsyncDisposable {
  /** From now on this process executes tasks of that type, including those that wait already. */
  register<TPayload, TInput = TPayload>(handler: TaskHandler<TPayload, TInput>): RegisteredTask<TInput>
  /** Stores a task. It waits until a process registers its type. */
  enqueue(request: EnqueueRequest): Promise<TaskRecord>
  /** `null` when there is no such task. */
  getStatus(task: TaskRef): Promise<TaskRecord | null>
  /** How many tasks are in each state. Counts them all: for a dashboard, not for a hot path. */
  countsByState(): Promise<Record<TaskState, number>>
  /** Newest first. */
  list(request?: PageRequest): Promise<Page>
  /** Listens to what this process does to tasks; events are emitted at once. If a listener throws, the `error` listeners get its error. */
  on<T extends keyof TaskQueueEvents>(event: T, listener: (event: TaskQueueEvents[T]) => unknown): Unsubscribe
  /** A waiting task is `Cancelled` at once; a running one gets an aborted signal, and is `Cancelled` when it has stopped. */
  cancel(task: TaskRef): Promise<CancelOutcome['outcome']>
  /** A `Dead` task is `Queued` again, and may use all its attempts anew. */
  redrive(task: TaskRef): Promise<TaskRecord>
  /** Redrives all tasks that are `Dead` now; returns how many. */
  redriveAll(options?: RedriveOptions): Promise<number>
  /** Removes tasks that finished longer ago than `olderThan`; returns how many. */
  purge(options: PurgeTasks): Promise<number>
  /** Creates or updates the tables; nothing to do in memory. */
  migrate(): Promise<void>
  start(options?: StartOptions): void
  /** Waits for the running tasks. After `timeout` (ms) their signals abort and they are `Queued` again; it costs them no attempt. */
  stop(options?: { timeout?: number }): Promise<void>
}

export interface RegisteredTask<TInput> {
  readonly taskType: string
  enqueue(payload: TInput, options?: TriggerOptions): Promise<TaskRecord>
}

export interface EnqueueRequest extends TriggerOptions {
  taskType: string
  /** Any value of JSON, and `Date`, `Map`, `Set`, `BigInt` and bytes. */
  payload: unknown
}

export interface PageRequest {
  state?: TaskState
  taskType?: string
  /** Default 100. */
  limit?: number
  /** The cursor of the page before. */
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
  /** An error that does not come from a handler: the store is unavailable, or a listener or a logger threw. The queue goes on. */
  error: { readonly error: unknown; readonly taskId: string | null }
}
