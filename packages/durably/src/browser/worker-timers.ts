// Timers in a worker. A browser slows the timers of a hidden page down to one a minute, but not those of its workers.
//   - The worker runs while this instance leads.
//   - Each timer is set in the page as well, and the first of the two to fire counts: so a worker that cannot be loaded delays nothing.
import { type Env, systemEnv, type TimerHandle } from '../model/env.ts'

export type TimerOrder = { set: number; ms: number } | { clear: number }

interface Timer {
  number: number
  inPage: TimerHandle
}

export class WorkerTimers {
  readonly #page = systemEnv()
  readonly #pending = new Map<number, () => void>()
  #timers = 0
  #worker: Worker | null = null

  env(): Env {
    return { ...this.#page, timer: (ms, fn) => this.#set(ms, fn), clear: (handle) => this.#clear(handle as Timer | null) }
  }

  start(): void {
    if (this.#worker) return
    try {
      this.#worker = new Worker(new URL('./timer-worker.js', import.meta.url), { type: 'module', name: 'durably timers' })
      this.#worker.onmessage = ({ data }: MessageEvent<number>) => this.#pending.get(data)?.()
    } catch {
      // A page may forbid workers. Then only its own timers are used.
    }
  }

  stop(): void {
    this.#worker?.terminate()
    this.#worker = null
  }

  #set(ms: number, fn: () => void): Timer {
    const number = ++this.#timers
    const timer: Timer = { number, inPage: this.#page.timer(ms, () => fire()) }
    const fire = () => {
      this.#clear(timer)
      fn()
    }
    this.#pending.set(number, fire)
    this.#order({ set: number, ms })
    return timer
  }

  /** The handle may be empty, as with `clearTimeout`. */
  #clear(timer: Timer | null | undefined): void {
    if (!timer || !this.#pending.delete(timer.number)) return
    this.#page.clear(timer.inPage)
    this.#order({ clear: timer.number })
  }

  #order(order: TimerOrder): void {
    this.#worker?.postMessage(order)
  }
}
