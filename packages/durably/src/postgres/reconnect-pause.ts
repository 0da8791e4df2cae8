import { backoffMs } from '../model/backoff.ts'
import type { Env, TimerHandle } from '../model/env.ts'
import { letExit } from './let-exit.ts'

/** What is not there after a minute will be there in another. */
const PAUSE_MS_MAX = 60_000
/** From this attempt on the pauses grow beyond those of other calls. */
const PATIENT_FROM = 6

/** The waits between connections: short at first, longer with every failure. A process may end while it waits. */
export class ReconnectPause {
  readonly #env: Env
  #failures = 0
  #timer: TimerHandle
  #end: () => void = () => {}

  constructor(env: Env) {
    this.#env = env
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** What will not pass by itself soon is not hurried from the start. */
  failed({ isLasting }: { isLasting: boolean }): void {
    this.#failures = Math.max(this.#failures + 1, isLasting ? PATIENT_FROM : 0)
  }

  wait(): Promise<void> {
    const ms = backoffMs(this.#env, this.#failures) * 2 ** Math.max(0, this.#failures - PATIENT_FROM)
    return new Promise((resolve) => {
      this.#end = resolve
      this.#timer = this.#env.timer(Math.min(PAUSE_MS_MAX, ms), resolve)
      letExit(this.#timer)
    })
  }

  cutShort(): void {
    this.#env.clear(this.#timer)
    this.#end()
  }
}
