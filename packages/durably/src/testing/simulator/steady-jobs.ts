// Steady jobs — the jobs of a simulated world that have a retry policy, beside the same jobs without one.
import { chance, oneOf, pick } from './chance.ts'

/** The jobs with a retry policy: how often they are tried, and how long one execution may take. */
export interface SteadyJobs {
  attempts: number
  delayMs: number
  jitter: boolean
  timeoutMs: number | undefined
}

export function planSteadyJobs(seed: number, leaseMs: number): SteadyJobs {
  return {
    attempts: pick(seed, 'attempts', 2, 4),
    delayMs: oneOf(seed, 'delay', [0, 2000, 15_000]),
    jitter: chance(seed, 'jitter') < 0.3,
    timeoutMs: oneOf(seed, 'job timeout', [undefined, undefined, leaseMs * 0.8, leaseMs * 2]),
  }
}

/** The name of the job of this shape that has a retry policy. */
export function steady(shape: string): string {
  return `steady ${shape}`
}
