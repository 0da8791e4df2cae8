// Claims runs for this process. Only a run that this returns may start user code (R5).

import { momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import { LeaseAge } from '../lease/lease-age.ts'
import type { Claimed } from '../lease/run-clock.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Claims at most `wanted` runs, the oldest first. */
export async function claimRuns(deps: WorkerDeps & { workerId: string }, wanted: number): Promise<Claimed[]> {
  const { store, env, leaseMs, confirmMs, workerId } = deps
  const tokens = Array.from({ length: wanted }, () => env.id())
  const sent = momentOf(env)
  const claimed = (runs: readonly RunRow[]) => {
    const answered = momentOf(env)
    return runs.map((run) => ({ run, lease: new LeaseAge(env, sent), sent, answered }))
  }
  try {
    return claimed(await deps.claim({ jobNames: deps.jobNames(), tokens, leaseMs, confirmMs, workerId }))
  } catch (error) {
    const adopted = await untilLeaseIsOver(deps, () => store.runs.adopt(tokens))
    if (adopted?.length) return claimed(adopted)
    throw error
  }
}
