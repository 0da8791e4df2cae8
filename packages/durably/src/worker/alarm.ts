// Alarm — one timer for what is put off again and again. Setting a timer costs more than a small task, so it is not set anew
// each time: it stays as it is and, when it fires too early, waits for the rest.
import type { Env, TimerHandle } from '../model/env.ts'

export class Alarm {
  readonly #env: Env
  readonly #ring: () => void
  #timer: TimerHandle | null = null
  #firesAt = Number.POSITIVE_INFINITY
  #ringsAt = Number.POSITIVE_INFINITY

  constructor(env: Env, ring: () => void) {
    this.#env = env
    this.#ring = ring
  }

  /** Rings at this time of the monotonic clock, whatever it was set to before; `Infinity` for never. */
  set(at: number): void {
    this.#ringsAt = at
    if (at < this.#firesAt) this.#arm(at - this.#env.mono())
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

  #arm(ms: number): void {
    this.#disarm()
    // Whole milliseconds: a rounding error must not make the timer fire again and again just before its time.
    const whole = Math.ceil(ms)
    this.#firesAt = this.#env.mono() + whole
    this.#timer = this.#env.timer(whole, () => this.#fire())
  }

  #disarm(): void {
    if (this.#timer !== null) this.#env.clear(this.#timer)
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
  }

  #fire(): void {
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
    const left = this.#ringsAt - this.#env.mono()
    if (left === Number.POSITIVE_INFINITY) return
    if (left > 0) return this.#arm(left)
    this.#ringsAt = Number.POSITIVE_INFINITY
    this.#ring()
  }
}
