// Audience — the components that look at one thing. The first one starts it; when the last one has left it ends.
//   A1. It ends a moment later: a component that comes back at once, as in StrictMode, finds it as it was.
//   A2. They are told once per turn, however much happened in it.
import type { TimerHandle } from '@coji/durably'
import type { Clock } from './clock.ts'

const GRACE_MS = 1000

export interface Show {
  clock: Clock
  start(): void
  /** For good. */
  end(): void
}

export class Audience {
  readonly #show: Show
  readonly #listeners = new Set<{ hear: () => void }>()
  #hasStarted = false
  #leaving: TimerHandle
  #telling: TimerHandle

  constructor(show: Show) {
    this.#show = show
  }

  /** Returns the function that leaves. */
  join(hear: () => void): () => void {
    const listener = { hear }
    this.#listeners.add(listener)
    this.#show.clock.clear(this.#leaving)
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#show.start()
    }
    return () => {
      this.#listeners.delete(listener)
      this.endSoon()
    }
  }

  /** Unless somebody comes. */
  endSoon(): void {
    const { clock, end } = this.#show
    clock.clear(this.#leaving)
    if (this.#listeners.size === 0) this.#leaving = clock.timer(GRACE_MS, end)
  }

  tell(): void {
    this.#telling ??= this.#show.clock.timer(0, () => {
      this.#telling = undefined
      for (const { hear } of this.#listeners) hear()
    })
  }
}
