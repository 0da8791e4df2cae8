// Queue — the interface of seed 003: what a program can do with its task queue, on any store.

import type { Unsubscribe } from '../events/emitter.ts'
import type { StartOptions } from '../lifecycle.ts'
import type { Duration } from '../model/duration.ts'
import type { Labels } from '../model/labels.ts'
import type { TriggerOptions } from '../runs/trigger.ts'
import type { CancelOutcome } from '../store/runs.ts'
import type { TaskStateChange } from './state-change.ts'
import type { TaskHandler } from './task-handler.ts'
import type { TaskRecord, TaskRef } from './task-record.ts'
import type { FinishedState, TaskState } from './task-state.ts'

/** What a task queue can do, on any store. */
export interface Queue extends AsyncDisposable {
  /** Registers the code for one type of task. From now on this process executes tasks of that type, including those that wait already. */
  register<TPayload, TInput = TPayload>(handler: TaskHandler<TPayload, TInput>): RegisteredTask<TInput>
  /** Stores a task and returns it. It waits until a process registers its type. */
  enqueue(request: EnqueueRequest): Promise<TaskRecord>
  /** Reads a task; null if there is no such task. */
  getStatus(task: TaskRef): Promise<TaskRecord | null>
  /** Counts all tasks by state. It reads every task that is kept, so use it for a dashboard, not for every request. */
  countsByState(): Promise<Record<TaskState, number>>
  /** Reads tasks, newest first, in pages. */
  list(request?: PageRequest): Promise<Page>
  /**
   * Listens to what this process does to tasks. Listeners are called at once and in order. If one throws, the `error` listeners get its
   * error. Returns a function that removes the listener.
   */
  on<T extends keyof TaskQueueEvents>(event: T, listener: (event: TaskQueueEvents[T]) => unknown): Unsubscribe
  /** Cancels a task. A waiting one is `Cancelled` at once; a running one gets an aborted signal, and is `Cancelled` when it has stopped. */
  cancel(task: TaskRef): Promise<CancelOutcome['outcome']>
  /** Puts a `Dead` task back to `Queued`, and its attempts are counted anew. */
  redrive(task: TaskRef): Promise<TaskRecord>
  /** Redrives all tasks that are `Dead` now; returns how many. */
  redriveAll(options?: RedriveOptions): Promise<number>
  /** Removes tasks that finished longer ago than `olderThan`; returns how many. */
  purge(options: PurgeTasks): Promise<number>
  /** Creates or updates the tables. In memory there is nothing to do. */
  migrate(): Promise<void>
  /** Starts to execute tasks of the registered types. Without it, the queue only stores and reads. */
  start(options?: StartOptions): void
  /**
   * Stops the worker: it starts no more tasks, and the promise resolves when the running ones have ended. After `timeout` (in milliseconds)
   * their signals abort and they are `Queued` again; that costs them no attempt.
   */
  stop(options?: { timeout?: number }): Promise<void>
}

/** A registered type of task, as `register` returns it: enqueues tasks with the type of their payload. */
export interface RegisteredTask<TInput> {
  /** The type of the tasks. */
  readonly taskType: string
  /** Stores a task of this type and returns it. */
  enqueue(payload: TInput, options?: TriggerOptions): Promise<TaskRecord>
}

/** A task that is to be stored, with the options of `trigger`. */
export interface EnqueueRequest extends TriggerOptions {
  /** The type of the task, by which its handler is found. */
  taskType: string
  /** What the handler gets: any value of JSON, and `Date`, `Map`, `Set`, `BigInt` and bytes. */
  payload: unknown
}

/** Which tasks `list` returns. */
export interface PageRequest {
  /** Only tasks in this state. Default: in any. */
  state?: TaskState
  /** Only tasks of this type. Default: of any. */
  taskType?: string
  /** Only tasks with all of these labels. Default: with any. */
  labels?: Labels
  /** How many tasks are returned at most. Default 100. */
  limit?: number
  /** The `cursor` of the page before. Default: the first page. */
  cursor?: string | null
}

/** A page of tasks. */
export interface Page {
  /** The tasks, newest first. */
  tasks: TaskRecord[]
  /** Pass it to `list` to get the next page; null if there are no more. */
  cursor: string | null
}

/** The options of `redriveAll`. */
export interface RedriveOptions {
  /** Only tasks of this type. Default: of any. */
  taskType?: string
}

/** The options of `purge` of a task queue. */
export interface PurgeTasks {
  /** How long ago the tasks must have finished, for example `'7d'`. */
  olderThan: Duration
  /** Which tasks are removed, by how they finished. Default: `Succeeded`, `Dead` and `Cancelled`. */
  state?: FinishedState | readonly FinishedState[]
  /** How many tasks are removed at most. Default: all. */
  limit?: number
}

/** The events of a task queue, for `on()`. */
export interface TaskQueueEvents {
  /** The state of a task changed in this process. */
  stateChange: TaskStateChange
  /** An error that no handler caused: the store cannot be reached, or a listener or a logger threw. The queue goes on. */
  error: { readonly error: unknown; readonly taskId: string | null }
}
