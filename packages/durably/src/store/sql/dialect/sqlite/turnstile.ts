/** One at a time, first come, first served. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve()

  pass<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result
    // The caller sees a rejection; the queue only waits for its end.
    result.catch(() => {})
    return result
  }
}
