// Subscribers — the components that observe one thing. The first one starts the observation; it ends when the last one has left.
//   A1. It ends a moment later: a component that comes back at once, as in StrictMode, finds the same state.
//   A2. Subscribers are notified once per turn, however many changes it had.
import type { TimerHandle } from '@coji/durably'
import type { Clock } from './clock.ts'

const GRACE_MS = 1000

export interface Lifecycle {
  clock: Clock
  start(): void
  /** Called once, at the end. */
  end(): void
}

export class Subscribers {
  readonly #lifecycle: Lifecycle
  readonly #listeners = new Set<{ notify: () => void }>()
  #hasStarted = false
  #leaving: TimerHandle
  #notifying: TimerHandle

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle
  }

  /** Returns the function that unsubscribes. */
  join(notify: () => void): () => void {
    const listener = { notify }
    this.#listeners.add(listener)
    this.#lifecycle.clock.clear(this.#leaving)
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#lifecycle.start()
    }
    return () => {
      this.#listeners.delete(listener)
      this.endSoon()
    }
  }

  /** Ends the observation after a moment, unless a component joins. */
  endSoon(): void {
    const { clock, end } = this.#lifecycle
    clock.clear(this.#leaving)
    if (this.#listeners.size === 0) this.#leaving = clock.timer(GRACE_MS, end)
  }

  notify(): void {
    this.#notifying ??= this.#lifecycle.clock.timer(0, () => {
      this.#notifying = undefined
      for (const { notify } of this.#listeners) notify()
    })
  }
}
