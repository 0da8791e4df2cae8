// ListenerList — the listeners of one type of event. They are called synchronously and in order.
//   L1. A listener that throws, or whose promise rejects, does not affect the others: `onError` gets the error.
//   L2. The same function may be added twice; each `Unsubscribe` removes one of them.

/** Removes the listener that was added. It may be called more than once. */
export type Unsubscribe = () => void

export class ListenerList<T> {
  /** Replaced at every change, so listeners that come or go during a call do not affect that call. */
  #listeners: readonly ((event: T) => unknown)[] = []

  get size(): number {
    return this.#listeners.length
  }

  add(listener: (event: T) => unknown): Unsubscribe {
    const own = (event: T) => listener(event)
    this.#listeners = [...this.#listeners, own]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own)
    }
  }

  call(event: T, onError: (error: unknown, event: T) => void): void {
    for (const listener of this.#listeners) {
      try {
        const answer = listener(event)
        if (answer instanceof Promise) answer.catch((error) => onError(error, event))
      } catch (error) {
        onError(error, event)
      }
    }
  }
}
