import { type Duration, durationMs } from '../model/duration.ts'
import { type Env, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

/** The time of one try of a step. A function that ignores its signal goes on, but nobody waits for it. */
export class StepTimeLimit {
  readonly signal: AbortSignal
  readonly #abort = new AbortController()
  readonly #env: Env
  readonly #ms: number
  readonly #late: DurablyError

  constructor(env: Env, stepName: string, timeout: Duration, outer: AbortSignal) {
    const name = JSON.stringify(stepName)
    this.signal = AbortSignal.any([outer, this.#abort.signal])
    this.#env = env
    this.#ms = durationMs(`timeout of step ${name}`, timeout)
    this.#late = new DurablyError('timeout', `step ${name} took longer than ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`)
  }

  async race<T>(result: Promise<T>): Promise<T> {
    if (await within(this.#env, this.#ms, result)) return result
    this.#abort.abort(this.#late)
    throw this.#late
  }
}
