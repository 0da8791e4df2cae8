import type { Logger, StepContext } from '../../model/job.ts'
import { stepLogger } from './step-logger.ts'
import type { StepRunnerDeps } from './step-runner.ts'

/** What the function of a step gets. The signal and the logger are made when they are asked for: each costs more than a small step. */
export class RunningStep implements StepContext {
  readonly #deps: StepRunnerDeps
  readonly #name: string
  readonly attempt: number
  readonly #signal: AbortSignal | undefined

  /** `expired` aborts when the time of the step is over. */
  constructor(deps: StepRunnerDeps, name: string, attempt: number, expired: AbortSignal | undefined) {
    this.#deps = deps
    this.#name = name
    this.attempt = attempt
    this.#signal = expired && AbortSignal.any([deps.execution.signal, expired])
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#deps.execution.signal
  }

  get log(): Logger {
    const { emitter, execution } = this.#deps
    return stepLogger(emitter, execution.run.id, () => this.#name)
  }

  get idempotencyKey(): string {
    return `${this.#deps.execution.run.id}:${this.#name}`
  }
}
