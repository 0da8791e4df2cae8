// Takes runs for this process. Only what this returns may start user code (R5).
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { Claim } from '../../store/owner-write.ts'
import { LeaseAge, type Moment, momentOf } from '../lease/lease-age.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'
import type { WorkerDeps } from '../worker-deps.ts'

export interface Claimed {
  run: RunRow
  lease: LeaseAge
  /** When the claim was answered. */
  answered: Moment
}

/** At most `wanted`, the oldest ones. */
export async function claimRuns(deps: WorkerDeps, wanted: number): Promise<Claimed[]> {
  const { store, env, jobs, leaseMs } = deps
  const tokens: string[] = []
  while (tokens.length < wanted) tokens.push(env.id())
  const sent = momentOf(env)
  const claimed = (runs: readonly RunRow[]) => {
    const answered = momentOf(env)
    return runs.map((run) => ({ run, lease: new LeaseAge(env, sent), answered }))
  }
  try {
    return claimed(await store.runs.claim({ jobNames: [...jobs.keys()], tokens, leaseMs }))
  } catch (error) {
    const adopted = await untilLeaseIsOver(deps, () => store.runs.adopt(tokens))
    if (adopted?.length) return claimed(adopted)
    throw error
  }
}

/** What earlier executions recorded; `null` when it could not be read while the lease lasted, or the run has another owner. */
export function readSteps(deps: WorkerDeps, claim: Claim): readonly StepRow[] | Promise<readonly StepRow[] | null> {
  if (claim.generation === 1) return []
  return untilLeaseIsOver(deps, () => deps.store.steps.listOwned(claim))
}
