// Claims runs for this process. Only a run that this returns may start user code (R5).

import { momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { LastChance, LastChanceDeps } from '../last-chance.ts'
import { limitCode } from '../lazy-limits.ts'
import { LeaseAge } from '../lease/lease-age.ts'
import type { Claimed } from '../lease/run-clock.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'

export interface ClaimDeps extends LastChanceDeps {
  workerId: string
  /** Since the first run that fails if it loses its worker once more. */
  lastChance?: LastChance
}

/** Claims at most as many runs as there are free slots, the oldest first. */
export async function claimRuns(deps: ClaimDeps, free: number): Promise<Claimed[]> {
  const { store, env, leaseMs, confirmMs, workerId } = deps
  const wanted = deps.lastChance?.slots(free) ?? free
  if (wanted === 0) return []
  const tokens = Array.from({ length: wanted }, () => env.id())
  const sent = momentOf(env)
  let runs: readonly RunRow[] | null
  try {
    runs = await deps.claim({ jobNames: deps.jobNames(), tokens, leaseMs, confirmMs, workerId })
  } catch (error) {
    runs = await untilLeaseIsOver(deps, () => store.runs.adopt(tokens))
    if (!runs?.length) throw error
  }
  const answered = momentOf(env)
  // Also for a run that is given back below.
  for (const { id, leaseGeneration } of runs) if (leaseGeneration > 1) deps.active.loseEarlier(id)
  if (runs.some(({ recoveries }) => recoveries >= deps.maxRecoveries))
    deps.lastChance ??= new (await limitCode(env)).LastChance(deps, untilLeaseIsOver)
  if (deps.lastChance) runs = await deps.lastChance.sift(runs)
  return runs.map((run) => ({ run, lease: new LeaseAge(env, sent), sent, answered }))
}
