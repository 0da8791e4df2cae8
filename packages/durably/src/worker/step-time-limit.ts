import { type Duration, durationMs } from '../model/duration.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

/** The time of one try of a step. A function that ignores its signal goes on, but nobody waits for it. */
export class StepTimeLimit {
  readonly signal: AbortSignal
  readonly #abort = new AbortController()
  readonly #over: Promise<never>
  readonly #stop: () => void

  constructor(env: Env, stepName: string, timeout: Duration, outer: AbortSignal) {
    const ms = durationMs(`timeout of step ${JSON.stringify(stepName)}`, timeout)
    this.signal = AbortSignal.any([outer, this.#abort.signal])
    let fail: (error: DurablyError) => void = () => {}
    this.#over = new Promise((_, reject) => {
      fail = reject
    })
    this.#over.catch(() => {})
    const timer = env.timer(ms, () => {
      const error = new DurablyError(
        'timeout',
        `step ${JSON.stringify(stepName)} took longer than ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`,
      )
      this.#abort.abort(error)
      fail(error)
    })
    this.#stop = () => env.clear(timer)
  }

  async race<T>(result: Promise<T>): Promise<T> {
    try {
      return await Promise.race([result, this.#over])
    } finally {
      this.#stop()
    }
  }
}
