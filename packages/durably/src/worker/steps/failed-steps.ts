import { causeOf } from '../../model/failure.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'

/** A limit, because an error may be its own cause. */
const CAUSES_MAX = 10

/** The steps of a run that failed: how often since the last manual retry, and with which errors in this execution. */
export class FailedSteps {
  readonly #times = new Map<string, number>()
  readonly #errors: { error: unknown; stepName: string }[] = []

  /** `steps`: what earlier executions recorded. */
  constructor({ retryGeneration }: RunRow, steps: readonly StepRow[]) {
    for (const { name, status, leaseGeneration } of steps) if (status === 'failed' && leaseGeneration > retryGeneration) this.#count(name)
  }

  times(stepName: string): number {
    return this.#times.get(stepName) ?? 0
  }

  add(stepName: string, error: unknown): void {
    this.#count(stepName)
    this.blame(stepName, error)
  }

  /** The error ended the job, though the step is not recorded as failed. */
  blame(stepName: string, error: unknown): void {
    this.#errors.push({ error, stepName })
  }

  /** The step whose error ended the job, also when the job threw it as the cause of another one; empty when no step failed. */
  nameFor(thrown: unknown): string {
    for (let error = thrown, depth = 0; depth < CAUSES_MAX; depth++) {
      const failed = this.#errors.find((failure) => failure.error === error)
      if (failed) return failed.stepName
      error = causeOf(error)
      if (error === undefined) break
    }
    return ''
  }

  #count(stepName: string): void {
    this.#times.set(stepName, this.times(stepName) + 1)
  }
}
