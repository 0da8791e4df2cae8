// ExclusiveTurn — lets requests to a store run side by side, but one kind alone: while that one is at work nothing else is.

export class ExclusiveTurn {
  #atWork = 0
  /** Resolves when nothing is at work. */
  #whenFree: (() => void) | null = null
  /** Ends with the last of those that want to be alone; null when there are none. */
  #alone: Promise<void> | null = null

  beside<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone ? this.#alone.then(() => this.beside(work)) : this.#count(work())
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = (this.#alone ?? Promise.resolve()).then(() => this.#free()).then(work)
    const over = turn.then(
      () => {},
      () => {},
    )
    this.#alone = over
    over.then(() => {
      if (this.#alone === over) this.#alone = null
    })
    return turn
  }

  #free(): Promise<void> | undefined {
    if (this.#atWork === 0) return undefined
    return new Promise((resolve) => {
      this.#whenFree = resolve
    })
  }

  #count<T>(working: Promise<T>): Promise<T> {
    this.#atWork++
    const done = () => {
      if (--this.#atWork > 0) return
      this.#whenFree?.()
      this.#whenFree = null
    }
    working.then(done, done)
    return working
  }
}
