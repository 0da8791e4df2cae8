// StateChange — what this process does to tasks, told as it happens.
// A change is told after it was stored. That a RetryScheduled task has come due is nobody's act, so it is not told.
import type { Durably } from '../durably.ts'
import { type Env, iso } from '../model/env.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { TaskContext } from './task-handler.ts'

interface Facts {
  readonly taskId: string
  readonly taskType: string
  readonly at: string
}

export type TaskStateChange = Facts &
  (
    | { readonly state: 'Queued'; readonly by: 'enqueue' | 'redrive' | 'release' | 'reclaim' }
    | { readonly state: 'Running'; readonly attempt: number }
    | { readonly state: 'Succeeded'; readonly attempt: number }
    | { readonly state: 'RetryScheduled'; readonly attempt: number; readonly error: string; readonly nextRunAt: string }
    /** `attempts` is absent when it did not end by an execution: its workers were lost, or its deadline was over. */
    | { readonly state: 'Dead'; readonly attempts?: number; readonly error: string }
    | { readonly state: 'Cancelled' }
  )

type Change = TaskStateChange extends infer C ? (C extends TaskStateChange ? Omit<C, keyof Facts> : never) : never

interface StateChangeDeps {
  env: Env
  tell: (change: TaskStateChange) => void
  /** Of a task that this process executes: the engine's events do not carry it. */
  attemptOf: (taskId: string) => number | undefined
}

/** What nobody listens to is not made. */
export class StateChanges {
  readonly #deps: StateChangeDeps
  #isHeard = false

  constructor(deps: StateChangeDeps) {
    this.#deps = deps
  }

  /** Somebody listens, from now on. */
  follow(durably: Pick<Durably, 'on'>): void {
    if (this.#isHeard) return
    this.#isHeard = true
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

  /** From inside the execution, where the attempt is known. */
  started({ taskId, attempt }: TaskContext, taskType: string): void {
    if (this.#isHeard) this.#deps.tell({ taskId, taskType, at: iso(this.#deps.env.wall()), state: 'Running', attempt })
  }

  #change({ runId: taskId, jobName: taskType, timestamp: at }: RunEvent, change: Change): void {
    this.#deps.tell({ taskId, taskType, at, ...change })
  }
}

type RunEvent = Pick<Extract<DurablyEvent, { jobName: string }>, 'runId' | 'jobName' | 'timestamp'>
