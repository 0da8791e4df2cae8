// ExclusiveTurn — a shared lock: requests to a store run side by side (`beside`), except that some run while nothing else does (`alone`).

export class ExclusiveTurn {
  #atWork = 0
  /** Called when no shared request is running. */
  #whenFree: (() => void) | null = null
  /** Settles when the last exclusive request has ended; `null` when there is none. */
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
