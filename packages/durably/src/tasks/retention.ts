// Retention — finished tasks are forgotten: beyond a bound the oldest at once, and those that are too old now and then.
//   R1. A task that was redriven is not finished, and its place is gone with it.
//   R2. The bound is for memory that belongs to this queue alone, so what it hears of is all there is.
import { type Duration, durationMs } from '../model/duration.ts'
import type { Env, TimerHandle } from '../model/env.ts'
import type { TaskStateChange } from './state-change.ts'

export interface RetentionOptions {
  /** Finished tasks that are kept in the queue's own memory, the newest. Default 10,000; `Infinity` keeps all. */
  max?: number
  /** Finished tasks are removed when they are older, on every store, while the queue is started. Default: never. */
  ttl?: Duration
}

/** A finished task outlives its time by this much at most. */
const SWEEP_MS_MAX = 60_000
const SWEEP_MS_MIN = 1000

interface RetentionParts {
  env: Env
  finishedMax: number
  ttl: Duration | undefined
  forget: (taskId: string) => Promise<unknown>
  purge: (ttl: Duration) => Promise<unknown>
  report: (error: unknown) => void
}

export class Retention {
  readonly #parts: RetentionParts
  readonly #sweepMs: number | null
  /** Oldest first. */
  readonly #finished = new Set<string>()
  /** Stays at the oldest: a new one would walk over the gaps that the deleted ones leave in the set. */
  readonly #oldest = this.#finished.values()
  #timer: TimerHandle | null = null
  #isStarted = false

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.#sweepMs = parts.ttl === undefined ? null : Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, durationMs('retention.ttl', parts.ttl)))
  }

  hear({ taskId, state }: TaskStateChange): void {
    const { finishedMax } = this.#parts
    if (finishedMax === Number.POSITIVE_INFINITY) return
    if (state === 'Queued') this.#finished.delete(taskId)
    if (state === 'Succeeded' || state === 'Dead' || state === 'Cancelled') this.#finished.add(taskId)
    while (this.#finished.size > finishedMax) this.#forgetOldest()
  }

  start(): void {
    this.#isStarted = true
    this.#sweepLater()
  }

  stop(): void {
    this.#isStarted = false
    if (this.#timer !== null) this.#parts.env.clear(this.#timer)
    this.#timer = null
  }

  #forgetOldest(): void {
    const { value: taskId } = this.#oldest.next()
    if (taskId === undefined) throw new Error('R2: a set above its bound has an oldest')
    this.#finished.delete(taskId)
    this.#parts.forget(taskId).catch(this.#parts.report)
  }

  #sweepLater(): void {
    if (this.#sweepMs === null || !this.#isStarted || this.#timer !== null) return
    this.#timer = this.#parts.env.timer(this.#sweepMs, () => void this.#sweep())
  }

  async #sweep(): Promise<void> {
    const { purge, ttl, report } = this.#parts
    // Before it waits: a start meanwhile sets the next timer, and then there must not be a second one.
    this.#timer = null
    await purge(ttl ?? 0).catch(report)
    this.#sweepLater()
  }
}
