// Takes back the runs of lost workers, at any time and by any worker, and emits what became of them.
import type { RecordedPayload } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import { TRANSITIONS } from '../../model/transitions.ts'
import type { Term } from '../../store/leadership.ts'
import { lossOf, REAP_MAX, type ReapRequest } from '../../store/runs.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/**
 * Takes back all runs that the leader before left running. Their owners are gone if the term still inherits after they were read.
 * Exactly the claims that were read are taken back, so a claim that somebody made since is safe. A term that ends meanwhile leaves
 * the rest to the next leader.
 */
export async function reapInherited(deps: WorkerDeps, term: Term): Promise<void> {
  const tokens = await deps.store.runs.held()
  if (tokens.length > 0) await reapLostRuns(deps, { tokens }, () => term.inherits)
}

/** Returns how many runs were taken back. */
export async function reapLostRuns(
  deps: WorkerDeps,
  which: Pick<ReapRequest, 'tokens'> = {},
  mayReap: () => boolean = () => true,
): Promise<number> {
  let total = 0
  while (mayReap()) {
    const reaped = await deps.store.runs.reap({ maxRecoveries: deps.maxRecoveries, ...which })
    for (const { run, move } of reaped) deps.runEvents.emit(TRANSITIONS[move].event, () => ({ run, payload: lossIn(run) }))
    total += reaped.length
    if (reaped.length < REAP_MAX) break
  }
  return total
}

/** For those that failed because their worker was lost. */
function lossIn({ error, reason }: RunRow): RecordedPayload {
  return error !== null && (reason === 'crash_loop' || reason === 'timeout') ? { error, failure: lossOf(reason, error) } : {}
}
