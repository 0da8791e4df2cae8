import type { Env } from '../../model/env.ts'
import type { Execution } from '../execution.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'

export interface ReadForRunDeps {
  execution: Execution
  env: Env
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

/**
 * Reads what a call of `ctx` needs. If it cannot be read for a whole lease, that is not the job's fault (R6): another worker goes on with
 * the run. The read needs no fence, because the store accepts or refuses a write of the owner before the job sees a result of it.
 */
export async function readForRun<T>(deps: ReadForRunDeps, what: string, read: () => T | Promise<T>): Promise<T> {
  const value = await readEvenIfInterrupted(deps, what, read)
  deps.execution.throwIfInterrupted()
  return value
}

/** The same for a call that has begun to wait: it says until when, also if the job fails meanwhile. */
export async function readEvenIfInterrupted<T>(deps: ReadForRunDeps, what: string, read: () => T | Promise<T>): Promise<T> {
  const { execution } = deps
  const answer = await untilLeaseIsOver(deps, async () => ({ value: await read() }))
  if (answer) return answer.value
  execution.owner.lose(`${what} could not be read for a whole lease`)
  execution.throwIfInterrupted()
  throw new Error('X1: a lost lease interrupts')
}
