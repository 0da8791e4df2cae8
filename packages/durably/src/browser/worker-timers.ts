// Timers that a hidden tab does not slow down to one a minute: those of a worker. It runs while this instance leads.
//   - A timer is set in the page as well, and the first to fire counts: a worker that cannot be loaded delays nothing.
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
      // A page may forbid workers; then its own timers have to do.
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

  /** As with those of the page, there may be none. */
  #clear(timer: Timer | null | undefined): void {
    if (!timer || !this.#pending.delete(timer.number)) return
    this.#page.clear(timer.inPage)
    this.#order({ clear: timer.number })
  }

  #order(order: TimerOrder): void {
    this.#worker?.postMessage(order)
  }
}
