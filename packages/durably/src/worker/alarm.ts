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

  /** Rings in so many milliseconds, whatever it was set to before; `Infinity` for never. */
  set(ms: number): void {
    this.#ringsAt = this.#env.mono() + ms
    if (this.#ringsAt < this.#firesAt) this.#arm(ms)
  }

  /** Rings in so many milliseconds, or earlier if it was set so. */
  setAtMost(ms: number): void {
    if (this.#env.mono() + ms < this.#ringsAt) this.set(ms)
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
