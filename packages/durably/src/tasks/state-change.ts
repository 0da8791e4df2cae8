// StateChange — what this process does to tasks, told as it happens.
// A change is told after it was stored. That a RetryScheduled task has come due is nobody's act, so it is not told.
import type { Durably } from '../durably.ts'
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

export class StateChanges {
  readonly #tell: (change: TaskStateChange) => void
  /** What nobody listens to is not made. */
  #isHeard = false
  /** The attempt of each task that this process executes: the engine's events do not carry it. */
  readonly #attempts = new Map<string, number>()

  constructor(tell: (change: TaskStateChange) => void) {
    this.#tell = tell
  }

  /** Somebody listens, from now on. */
  tellOf(durably: Pick<Durably, 'on'>): void {
    if (this.#isHeard) return
    this.#isHeard = true
    durably.on('run:trigger', (event) => this.#change(event, { state: 'Queued', by: 'enqueue' }))
    durably.on('run:reclaim', (event) => this.#change(event, { state: 'Queued', by: 'reclaim' }))
  }

  /** From the beginning: who listens later wants to know the attempts of what began before. */
  follow(durably: Pick<Durably, 'on'>): void {
    durably.on('run:release', (event) => this.#end(event, () => ({ state: 'Queued', by: 'release' })))
    durably.on('run:complete', (event) => this.#end(event, (attempt = 1) => ({ state: 'Succeeded', attempt })))
    durably.on('run:cancel', (event) => this.#end(event, () => ({ state: 'Cancelled' })))
    durably.on('run:fail', (event) => {
      this.#end(event, (attempts) => ({ state: 'Dead', error: event.error, ...(attempts !== undefined && { attempts }) }))
    })
    durably.on('run:retry', (event) => {
      const { error, attempt, runAt: nextRunAt } = event
      const isByHand = error === undefined || attempt === undefined || nextRunAt === undefined
      this.#end(event, () => (isByHand ? { state: 'Queued', by: 'redrive' } : { state: 'RetryScheduled', attempt, error, nextRunAt }))
    })
  }

  /** From inside the execution, where the attempt is known. */
  started({ taskId, attempt }: TaskContext, taskType: string, at: string): void {
    this.#attempts.set(taskId, attempt)
    if (this.#isHeard) this.#tell({ taskId, taskType, at, state: 'Running', attempt })
  }

  #end(event: RunEvent, change: (attempt: number | undefined) => Change): void {
    const attempt = this.#attempts.get(event.runId)
    this.#attempts.delete(event.runId)
    if (this.#isHeard) this.#change(event, change(attempt))
  }

  #change({ runId: taskId, jobName: taskType, timestamp: at }: RunEvent, change: Change): void {
    this.#tell({ taskId, taskType, at, ...change })
  }
}

type RunEvent = Pick<Extract<DurablyEvent, { jobName: string }>, 'runId' | 'jobName' | 'timestamp'>
