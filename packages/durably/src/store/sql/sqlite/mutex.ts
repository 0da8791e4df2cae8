import type { Turn } from '../shared/session.ts'

/** One at a time, first come, first served; those whose turn is first come before the others that wait. */
export class Turnstile {
  readonly #first: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #isTaken = false

  async pass<T>(work: () => Promise<T>, turn?: Turn): Promise<T> {
    if (this.#isTaken) await new Promise<void>((resolve) => (turn ? this.#first : this.#others).push(resolve))
    this.#isTaken = true
    try {
      return await work()
    } finally {
      const next = this.#first.shift() ?? this.#others.shift()
      if (next) next()
      else this.#isTaken = false
    }
  }
}
