import { backoffMs } from '../model/backoff.ts'
import type { Env, TimerHandle } from '../model/env.ts'
import { letExit } from './let-exit.ts'

const PAUSE_MS_MAX = 60_000
/** A problem that will not pass by itself is treated like this many failures: the pauses begin at about a second. */
const LASTING_FAILURES = 6

/** The pauses between attempts to connect: short at first, longer with every failure. They do not keep the process alive. */
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

  failed({ isLasting }: { isLasting: boolean }): void {
    this.#failures = Math.max(this.#failures + 1, isLasting ? LASTING_FAILURES : 0)
  }

  wait(): Promise<void> {
    const ms = backoffMs(this.#env, this.#failures, { longestMs: PAUSE_MS_MAX })
    return new Promise((resolve) => {
      this.#end = resolve
      this.#timer = this.#env.timer(ms, resolve)
      letExit(this.#timer)
    })
  }

  cutShort(): void {
    this.#env.clear(this.#timer)
    this.#end()
  }
}
