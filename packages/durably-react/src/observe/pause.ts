// Pause — a wait that ends when its time is over, when its signal aborts, or when `end` is called.
import type { Clock } from './clock.ts'

/** How long to wait after so many failures in a row. There is no jitter: the client spreads its own reconnects. */
export const retryMs = (failures: number): number => doubled(500, failures, 10_000)

/** How long to wait before a run that has ended is read again. */
export const lookMs = (looks: number): number => doubled(5000, looks, 60_000)

function doubled(firstMs: number, times: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** times)
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

  /** False when no wait is under way. */
  end(): boolean {
    const end = this.#end
    end?.()
    return end !== null
  }
}
