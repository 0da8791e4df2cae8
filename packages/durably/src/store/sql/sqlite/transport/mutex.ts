import type { Priority } from '../../shared/session.ts'

/** Lets one function run at a time, in the order in which they came; those with the priority `first` go before the others that wait. */
export class Mutex {
  readonly #first: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #isTaken = false

  get isTaken(): boolean {
    return this.#isTaken
  }

  async run<T>(work: () => Promise<T>, priority?: Priority): Promise<T> {
    if (this.#isTaken) await new Promise<void>((resolve) => (priority ? this.#first : this.#others).push(resolve))
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
