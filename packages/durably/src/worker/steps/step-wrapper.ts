// StepWrapper — a plugin's function around every step function: it can time it, limit it or report its errors.
import type { Execution } from '../execution.ts'

/** What a `StepWrapper` knows of the step that it wraps. */
export interface StepInfo {
  /** The run that the step belongs to. */
  runId: string
  /** The job of that run. */
  jobName: string
  /** The name of the step. */
  stepName: string
  /** The order in which the job called its steps, from 0. */
  stepIndex: number
  /** Aborts when the step must stop. */
  signal: AbortSignal
}

/** The async scope of a job function, and of its step functions. */
export interface StepScope {
  execution: Execution
  /** Null outside of steps. */
  stepName: string | null
  isTransaction: boolean
  /** Aborts when the time of the step is over, or that of one around it. */
  expired?: AbortSignal | undefined
  /** A call inside the step was rejected because of an interruption, so the step's result is not valid. */
  hasRejectedCall?: boolean
}

/**
 * A function around every step function, for example to measure it: it must call `next()`, which calls the step function, and return its
 * result.
 */
export type StepWrapper = (step: StepInfo, next: () => Promise<unknown>) => Promise<unknown>
