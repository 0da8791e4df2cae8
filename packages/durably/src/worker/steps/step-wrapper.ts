// A plugin may stand around every step function: time it, limit it, report its errors.
import type { Execution } from '../execution.ts'

export interface StepInfo {
  runId: string
  jobName: string
  stepName: string
  stepIndex: number
  signal: AbortSignal
}

/** What follows the calls of a job function, and of its step functions. */
export interface StepScope {
  execution: Execution
  /** Null outside of steps. */
  stepName: string | null
  isTransaction: boolean
  /** Aborts when the time of the step is over, or that of one around it. */
  late?: AbortSignal | undefined
  /** A call inside the step was, so what the step makes of it is no result. */
  turnedAway?: boolean
}

export type StepWrapper = (step: StepInfo, next: () => Promise<unknown>) => Promise<unknown>

/** The first wrapper stands outermost. */
export function wrapStep(wrappers: readonly StepWrapper[], step: StepInfo, fn: () => unknown): Promise<unknown> {
  const call = wrappers.reduceRight<() => Promise<unknown>>(
    (next, wrapper) => async () => wrapper(step, next),
    async () => fn(),
  )
  return call()
}
