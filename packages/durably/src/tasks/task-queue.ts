// TaskQueue — the vocabulary of seed 003 on top of the engine: a task is a run without steps, and its type is the name of a job.
// It owns the handlers, the events and the retention. The engine owns the rest; the state of a task is in the store alone.

import { createDurably, type Durably } from '../durably.ts'
import { ENGINE, type Engine } from '../engine.ts'
import type { Unsubscribe } from '../events/emitter.ts'
import type { StartOptions } from '../lifecycle.ts'
import type { Job } from '../model/job.ts'
import type { RunRow } from '../model/run.ts'
import { type TriggerOptions, triggerRow } from '../runs/trigger.ts'
import type { CancelOutcome } from '../store/runs.ts'
import { logLines } from './log-line.ts'
import type { EnqueueRequest, Page, PageRequest, PurgeTasks, Queue, RedriveOptions, RegisteredTask, TaskQueueEvents } from './queue.ts'
import { redriveAll } from './redrive-all.ts'
import { StateChanges } from './state-change.ts'
import { ANY_PAYLOAD, checkHandler, executeTask, RunningTask, type TaskHandler, taskJob } from './task-handler.ts'
import { TaskListeners } from './task-listeners.ts'
import { readTaskOptions, type TaskConfig, type TaskQueueOptions } from './task-options.ts'
import { readPage } from './task-page.ts'
import { type TaskRecord, type TaskRef, taskIdOf, taskRecord } from './task-record.ts'
import { FINISHED_STATES, finishedStatus, stateOfCount, TASK_STATES, type TaskState } from './task-state.ts'

/**
 * Makes a task queue: in memory, or on the database of `dialect`, or on a `store`.
 *
 * @example const queue = createTaskQueue({ concurrency: 10 })
 */
export function createTaskQueue(options: TaskQueueOptions = {}): TaskQueue {
  return new TaskQueue(options)
}

/** A task queue, made by `createTaskQueue`. */
export class TaskQueue implements Queue {
  readonly #config: TaskConfig
  readonly #durably: Durably
  readonly #engine: Engine
  readonly #changes: StateChanges
  readonly #listeners = new TaskListeners()

  constructor(options: TaskQueueOptions) {
    const config = readTaskOptions(options)
    const durably = createDurably(config.durably)
    const report = (error: unknown, taskId: string | null = null) => this.#listeners.emit('error', { error, taskId })
    const { logger } = options
    this.#config = config
    this.#durably = durably
    this.#engine = durably[ENGINE]
    this.#changes = new StateChanges({
      env: config.env,
      emit: (change) => this.#listeners.emit('stateChange', change),
      attemptOf: (taskId) => this.#engine.worker.execution(taskId)?.attempt,
    })
    if (logger) this.on('stateChange', (change) => logLines(change).forEach(logger))
    durably.on('worker:error', ({ cause, runId }) => report(cause, runId))
  }

  register<TPayload, TInput = TPayload>(handler: TaskHandler<TPayload, TInput>): RegisteredTask<TInput> {
    checkHandler(handler)
    const { taskType, timeout } = handler
    const { retry } = this.#config
    const definition = { name: taskType, input: ANY_PAYLOAD, retry, ...(timeout !== undefined && { timeout }) }
    this.#durably.defineJob(definition, (ctx, payload) => {
      const context = new RunningTask(ctx)
      this.#changes.started(context, taskType)
      return executeTask(handler, payload, context)
    })
    const job = taskJob(taskType)
    return { taskType, enqueue: (payload, options) => this.#enqueue(job, payload, options) }
  }

  async enqueue({ taskType, payload, ...options }: EnqueueRequest): Promise<TaskRecord> {
    return this.#enqueue(taskJob(taskType), payload, options)
  }

  #enqueue(job: Job, payload: unknown, options: TriggerOptions = {}): Promise<TaskRecord> {
    return triggerRow(this.#engine.trigger, job, { payload, options }, this.#record)
  }

  async getStatus(task: TaskRef): Promise<TaskRecord | null> {
    const row = await this.#engine.store.runs.get(taskIdOf(task))
    return row && this.#record(row)
  }

  async countsByState(): Promise<Record<TaskState, number>> {
    const counts = Object.fromEntries(TASK_STATES.map((state) => [state, 0])) as Record<TaskState, number>
    for (const counted of await this.#engine.store.runs.count()) counts[stateOfCount(counted)] += counted.count
    return counts
  }

  list(request: PageRequest = {}): Promise<Page> {
    return readPage((filter) => this.#engine.reader.getRows(filter), this.#record, request)
  }

  on<T extends keyof TaskQueueEvents>(event: T, listener: (event: TaskQueueEvents[T]) => unknown): Unsubscribe {
    if (event === 'stateChange') this.#changes.follow(this.#durably)
    return this.#listeners.on(event, listener)
  }

  async cancel(task: TaskRef): Promise<CancelOutcome['outcome']> {
    return this.#durably.cancel(taskIdOf(task))
  }

  async redrive(task: TaskRef): Promise<TaskRecord> {
    return this.#record(await this.#engine.commands.retryRow(taskIdOf(task)))
  }

  redriveAll(options: RedriveOptions = {}): Promise<number> {
    return redriveAll(this, options)
  }

  async purge({ state = FINISHED_STATES, ...options }: PurgeTasks): Promise<number> {
    return this.#durably.purge({ ...options, status: [state].flat().map(finishedStatus) })
  }

  migrate(): Promise<void> {
    return this.#durably.migrate()
  }

  start(options?: StartOptions): void {
    this.#durably.start(options)
  }

  stop(options?: { timeout?: number }): Promise<void> {
    return this.#durably.stop(options)
  }

  /** Waits for the running tasks and closes the database; a store that was passed in stays open. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#durably[Symbol.asyncDispose]()
  }

  readonly #record = (row: RunRow): TaskRecord =>
    taskRecord(row, this.#engine.trigger.codec, this.#config.maxAttempts, row.readAt ?? this.#config.env.wall())
}
