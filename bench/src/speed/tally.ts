// Tally — counts what has been executed, and gives the rate of all but the first tenth, which warms the process up.
//   T1. The cap is looked at in `tick` itself: an engine that never lets timers run would outlive every timer.
import { type Figure, rate } from './workload.ts'

export class Tally {
  readonly #total: number
  readonly #capMs: number
  readonly #warm: number
  #count = 0
  #began = 0
  #warmAt = 0
  #end = () => {}
  capped = false

  /** Settles when all has been executed, or when time is up. */
  readonly done = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(total: number, capMs: number) {
    this.#total = total
    this.#capMs = capMs
    this.#warm = Math.floor(total / 10)
  }

  readonly tick = (): void => {
    const now = performance.now()
    if (this.#count === 0) this.#began = now
    if (this.#count === this.#warm) this.#warmAt = now
    this.#count += 1
    if (this.#count > this.#total) throw new Error(`more than the ${this.#total} that were asked for were executed`)
    if (this.#count === this.#total) this.#end()
    else if (now - this.#began > this.#capMs) this.stop()
  }

  /** Time is up. */
  stop(): void {
    if (this.#count < this.#total) this.capped = true
    this.#end()
  }

  figure(): Figure {
    const now = performance.now()
    if (!this.capped) return rate(this.#total - this.#warm, now - this.#warmAt)
    const warm = this.#count > 2 * this.#warm
    const seen = warm ? rate(this.#count - this.#warm, now - this.#warmAt) : rate(this.#count, now - this.#began)
    return { ...seen, value: this.#count === 0 ? 0 : seen.value, capped: true }
  }
}
