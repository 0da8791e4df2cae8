// Pause — a wait that ends when its time is over, when its signal aborts, or when somebody has news.
import type { Clock } from './clock.ts'

const RETRY_FIRST_MS = 500
const RETRY_LONGEST_MS = 10_000
const LOOK_FIRST_MS = 5000
const LOOK_LONGEST_MS = 60_000

/** How long to wait after so many failures in a row; a client spreads its own reconnects, so there is no chance in it. */
export function retryMs(failures: number): number {
  return Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** Math.min(failures, 10))
}

/** How long to wait before looking again at what has ended. */
export function lookMs(looks: number): number {
  return Math.min(LOOK_LONGEST_MS, LOOK_FIRST_MS * 2 ** Math.min(looks, 10))
}

export class Pause {
  readonly #clock: Clock
  #end: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        this.#clock.clear(timer)
        signal.removeEventListener('abort', end)
        if (this.#end === end) this.#end = null
        resolve()
      }
      const timer = this.#clock.timer(ms, end)
      signal.addEventListener('abort', end)
      this.#end = end
    })
  }

  /** False when nobody waits. */
  end(): boolean {
    const end = this.#end
    end?.()
    return end !== null
  }
}
