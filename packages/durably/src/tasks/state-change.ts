// StateChanges — emits what this process does to tasks.
// A change is emitted after it was stored. No process does anything when a RetryScheduled task becomes due, so that emits nothing.
import type { Durably } from '../durably.ts'
import { type Env, iso } from '../model/env.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { TaskContext } from './task-handler.ts'

/** @inline */
interface Facts {
  /** The id of the task. */
  readonly taskId: string
  /** The type of the task. */
  readonly taskType: string
  /** When it happened, as ISO-8601 text. */
  readonly at: string
}

/**
 * A change of the state of a task, the event `stateChange`. It is emitted by the process that made the change, after the change was stored.
 */
export type TaskStateChange = Facts &
  /** It was enqueued, or is queued again because it was redriven, its worker stopped, or its worker was lost. */
  (
    | { readonly state: 'Queued'; readonly by: 'enqueue' | 'redrive' | 'release' | 'reclaim' }
    /** An execution begins. */
    | { readonly state: 'Running'; readonly attempt: number }
    /** It has succeeded. */
    | { readonly state: 'Succeeded'; readonly attempt: number }
    /** The execution failed, and the next one is due later. */
    | { readonly state: 'RetryScheduled'; readonly attempt: number; readonly error: string; readonly nextRunAt: string }
    /** It failed for good. `attempts` is absent if no execution failed: its workers were lost, or its deadline was over. */
    | { readonly state: 'Dead'; readonly attempts?: number; readonly error: string }
    /** It was cancelled. */
    | { readonly state: 'Cancelled' }
  )

type Change = TaskStateChange extends infer C ? (C extends TaskStateChange ? Omit<C, keyof Facts> : never) : never

interface StateChangeDeps {
  env: Env
  emit: (change: TaskStateChange) => void
  /** The attempt of a task that this process executes; the engine's events do not carry it. */
  attemptOf: (taskId: string) => number | undefined
}

/** Events are made only while there are listeners. */
export class StateChanges {
  readonly #deps: StateChangeDeps
  #isFollowed = false

  constructor(deps: StateChangeDeps) {
    this.#deps = deps
  }

  /** Starts to listen to the engine. */
  follow(durably: Pick<Durably, 'on'>): void {
    if (this.#isFollowed) return
    this.#isFollowed = true
    const { attemptOf } = this.#deps
    durably.on('run:trigger', (event) => this.#change(event, { state: 'Queued', by: 'enqueue' }))
    durably.on('run:release', (event) => this.#change(event, { state: 'Queued', by: 'release' }))
    durably.on('run:reclaim', (event) => this.#change(event, { state: 'Queued', by: 'reclaim' }))
    durably.on('run:complete', (event) => this.#change(event, { state: 'Succeeded', attempt: attemptOf(event.runId) ?? 1 }))
    durably.on('run:cancel', (event) => this.#change(event, { state: 'Cancelled' }))
    durably.on('run:fail', (event) => {
      const attempts = attemptOf(event.runId)
      this.#change(event, { state: 'Dead', error: event.error, ...(attempts !== undefined && { attempts }) })
    })
    durably.on('run:retry', (event) => {
      const { error, attempt, runAt: nextRunAt } = event
      const isByHand = error === undefined || attempt === undefined || nextRunAt === undefined
      this.#change(event, isByHand ? { state: 'Queued', by: 'redrive' } : { state: 'RetryScheduled', attempt, error, nextRunAt })
    })
  }

  /** Called from inside the execution, where the attempt is known. */
  started({ taskId, attempt }: TaskContext, taskType: string): void {
    if (this.#isFollowed) this.#deps.emit({ taskId, taskType, at: iso(this.#deps.env.wall()), state: 'Running', attempt })
  }

  #change({ runId: taskId, jobName: taskType, timestamp: at }: RunEvent, change: Change): void {
    this.#deps.emit({ taskId, taskType, at, ...change })
  }
}

type RunEvent = Pick<Extract<DurablyEvent, { jobName: string }>, 'runId' | 'jobName' | 'timestamp'>
