// MachineClock — the clocks of a simulated machine. Its wall clock has a skew and may be set once; while the machine sleeps, its monotonic
// clock stands still.
import { DIFFERENCE_MS_MAX } from '../../model/moment.ts'
import type { VirtualEnv } from '../virtual-env.ts'
import { chance, pick } from './chance.ts'
import { isFaultFree } from './world-kinds.ts'

/** The engine ignores a difference of at most `DIFFERENCE_MS_MAX` between its clocks, so a sleep must be longer. */
export const SUSPEND_MS_MIN = DIFFERENCE_MS_MAX + 100
const SKEW_MS_MAX = 60_000
const CLOCKS_SET_SHARE = 0.15
const CLOCK_SET_AFTER_MS_MAX = 60_000
const CLOCK_SET_MS_MAX = 3 * 60 * 60 * 1000

export class MachineClock {
  readonly #base: VirtualEnv
  readonly #skewMs: number
  /** When the wall clock is set; at infinity where it is not. */
  readonly #setAtMs: number
  readonly setByMs: number
  /** The last sleep, by the time of the world, and how long the machine slept before that in all. */
  #sleep = { from: 0, until: 0 }
  #sleptBeforeMs = 0

  constructor(seed: number, name: string, base: VirtualEnv) {
    this.#base = base
    this.#skewMs = pick(seed, `skew of ${name}`, -SKEW_MS_MAX, SKEW_MS_MAX)
    const isSet = !isFaultFree(seed) && chance(seed, `clock of ${name}`) < CLOCKS_SET_SHARE
    this.#setAtMs = isSet ? base.mono() + pick(seed, `clock of ${name} at`, 0, CLOCK_SET_AFTER_MS_MAX) : Number.POSITIVE_INFINITY
    this.setByMs = pick(seed, `clock of ${name} by`, -CLOCK_SET_MS_MAX, CLOCK_SET_MS_MAX)
  }

  wall(): number {
    return this.#base.wall() + this.#skewMs + (this.isSet ? this.setByMs : 0)
  }

  mono(): number {
    return this.#base.mono() - this.sleptMs
  }

  /** The wall clock was set. */
  get isSet(): boolean {
    return this.#base.mono() >= this.#setAtMs
  }

  /** How long the machine has slept until now. */
  get sleptMs(): number {
    const { from, until } = this.#sleep
    return this.#sleptBeforeMs + Math.min(this.#base.mono(), until) - from
  }

  /** How long the machine will sleep from now. */
  get asleepMs(): number {
    return Math.max(0, this.#sleep.until - this.#base.mono())
  }

  /** The wall clock and the store's go on, the monotonic clock and the timers stop. */
  sleep(ms: number): void {
    const now = this.#base.mono()
    const { from, until } = this.#sleep
    if (now < until) this.#sleep.until = Math.max(until, now + ms)
    else {
      this.#sleptBeforeMs += until - from
      this.#sleep = { from: now, until: now + ms }
    }
  }
}
