// Alarm — one timer for a time that is put off again and again. Setting a timer costs more than a small task, so the timer stays as it is
// when the time moves back; when it fires too early, it waits for the rest.
import type { Env, TimerHandle } from './env.ts'

export class Alarm {
  readonly #env: Env
  readonly #ring: () => void
  #timer: TimerHandle | null = null
  #firesAt = Number.POSITIVE_INFINITY
  #latestAt = Number.POSITIVE_INFINITY
  #ringsAt = Number.POSITIVE_INFINITY

  constructor(env: Env, ring: () => void) {
    this.#env = env
    this.#ring = ring
  }

  /**
   * Rings at this time of the monotonic clock, whatever it was set to before; `Infinity` for never. With `latestAt` it only polls, and may ring
   * as late as that while nothing happens (`latestMs` of `Env.timer`).
   */
  set(at: number, latestAt = at): void {
    this.#ringsAt = at
    if (at < this.#firesAt || latestAt < this.#latestAt) this.#arm(at, latestAt)
  }

  /** Rings at this time, or earlier if it was set so. */
  setAtMost(at: number): void {
    if (at < this.#ringsAt) this.set(at)
  }

  /** Never rings, and leaves no timer behind that would keep a process alive. */
  clear(): void {
    this.#disarm()
    this.#ringsAt = Number.POSITIVE_INFINITY
  }

  #arm(at: number, latestAt: number): void {
    this.#disarm()
    this.#firesAt = at
    this.#latestAt = latestAt
    const now = this.#env.mono()
    // Whole milliseconds: a rounding error must not make the timer fire again and again just before its time.
    const ms = Math.ceil(at - now)
    this.#timer = this.#env.timer(ms, () => this.#fire(), latestAt > at ? latestAt - now : undefined)
  }

  #disarm(): void {
    if (this.#timer !== null) this.#env.clear(this.#timer)
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #fire(): void {
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
    if (this.#ringsAt === Number.POSITIVE_INFINITY) return
    // Without `latestAt`: this firing was no poll, so the next one must not be put off.
    if (this.#ringsAt > this.#env.mono()) return this.#arm(this.#ringsAt, this.#ringsAt)
    this.#ringsAt = Number.POSITIVE_INFINITY
    this.#ring()
  }
}
