import type { Priority } from '../../shared/session.ts'

/** Lets one function run at a time, in the order in which they came; those with the priority `urgent` go before the others that wait. */
export class Mutex {
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #isTaken = false

  get isTaken(): boolean {
    return this.#isTaken
  }

  async run<T>(work: () => Promise<T>, priority?: Priority): Promise<T> {
    if (this.#isTaken) await new Promise<void>((resolve) => (priority ? this.#urgent : this.#others).push(resolve))
    this.#isTaken = true
    try {
      return await work()
    } finally {
      const next = this.#urgent.shift() ?? this.#others.shift()
      if (next) next()
      else this.#isTaken = false
    }
  }
}
