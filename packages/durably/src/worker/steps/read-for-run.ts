import type { Env } from '../../model/env.ts'
import type { Execution } from '../execution.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'

interface ReadForRunDeps {
  execution: Execution
  env: Env
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

/**
 * What a call of `ctx` has to know first. That it cannot be read is not the job's fault (R6): somebody else goes on with the run.
 * It needs no fence of its own: before the job sees anything that follows from it, a write of the owner is accepted or refused.
 */
export async function readForRun<T>(deps: ReadForRunDeps, what: string, read: () => Promise<T>): Promise<T> {
  const { execution } = deps
  const answer = await untilLeaseIsOver(deps, async () => ({ value: await read() }))
  if (answer === null) execution.owner.lose(`${what} could not be read for a whole lease`)
  execution.goOn()
  if (answer === null) throw new Error('X1: a lost lease interrupts')
  return answer.value
}
