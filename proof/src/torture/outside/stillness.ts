// Stillness — for how long this process has done nothing. One that was stopped between its last look at its lease and the first
// line of a function begins what it should not; nothing can prevent that, so such cases are recognized here.
import { sharedClock } from '../ledger.ts'

const TICK_MS = 20

export class Stillness {
  #tickedAt = sharedClock()

  constructor() {
    setInterval(() => {
      this.#tickedAt = sharedClock()
    }, TICK_MS).unref()
  }

  get ms(): number {
    return sharedClock() - this.#tickedAt
  }
}
