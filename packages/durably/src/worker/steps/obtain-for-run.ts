import type { Env } from '../../model/env.ts'
import type { Execution } from '../execution.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'

export interface ObtainForRunDeps {
  execution: Execution
  env: Env
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

/**
 * Obtains what a call of `ctx` needs, from the store or as code that is loaded, and tries again until the lease is over. If it cannot be had for a
 * whole lease, that is not the job's fault (R6): another worker goes on with the run. A read needs no fence, because the store accepts or refuses
 * a write of the owner before the job sees a result of it.
 */
export async function obtainForRun<T>(deps: ObtainForRunDeps, what: string, obtain: () => T | Promise<T>): Promise<T> {
  const value = await obtainEvenIfInterrupted(deps, what, obtain)
  deps.execution.throwIfInterrupted()
  return value
}

/** The same for a call that has begun to wait: it says until when, also if the job fails meanwhile. */
export async function obtainEvenIfInterrupted<T>(deps: ObtainForRunDeps, what: string, obtain: () => T | Promise<T>): Promise<T> {
  const { execution } = deps
  const answer = await untilLeaseIsOver(deps, async () => ({ value: await obtain() }))
  if (answer) return answer.value
  execution.owner.lose(`${what} could not be obtained for a whole lease`)
  execution.throwIfInterrupted()
  throw new Error('X1: a lost lease interrupts')
}
