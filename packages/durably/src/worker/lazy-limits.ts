// Limits of time are loaded with the first run that has a deadline, or whose job or step has a timeout, and with them what is said of one that
// does not stop (ADR 0009).
import { type Duration, durationMs } from '../model/duration.ts'
import type { Job } from '../model/job.ts'
import { lazyCode } from '../model/lazy.ts'
import type { RunRow } from '../model/run.ts'
import { untilLeaseIsOver } from './lease/until-lease-is-over.ts'
import { type ObtainForRunDeps, obtainForRun } from './steps/obtain-for-run.ts'
import type { WorkerDeps } from './worker-deps.ts'

export const limitCode = lazyCode(() => import('./limits.ts'))

export type LimitCode = typeof import('./limits.ts')

/** Undefined if the run has no limits; `null` if their code could not be loaded while the lease lasted. */
export function limitsFor(deps: WorkerDeps, run: RunRow, job: Job): LimitCode | undefined | Promise<LimitCode | null> {
  if (job.timeout === undefined && run.deadlineAt === null) return undefined
  const code = limitCode(deps.env)
  return code instanceof Promise ? untilLeaseIsOver(deps, async () => limitCode(deps.env)) : code
}

export function stepLimits(deps: ObtainForRunDeps): LimitCode | Promise<LimitCode> {
  const code = limitCode(deps.env)
  return code instanceof Promise ? obtainForRun(deps, 'the code of timeouts', () => limitCode(deps.env)) : code
}

export interface Timeout {
  /** As the user wrote it; undefined if there is none. */
  timeout: Duration | undefined
  /** Infinite if there is none. */
  timeoutMs: number
}

/** Not in the code that is loaded: what that shares with the first load would become a file of its own. */
export function timeoutOf(what: string, timeout: Duration | undefined): Timeout {
  return { timeout, timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : durationMs(what, timeout) }
}
