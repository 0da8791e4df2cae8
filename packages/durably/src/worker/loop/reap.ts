// Takes back the runs of lost workers, at any time and by any worker, and emits what became of them.
import { TRANSITIONS } from '../../model/transitions.ts'
import type { Term } from '../../store/leadership.ts'
import { REAP_MAX, type ReapRequest } from '../../store/runs.ts'
import type { WorkerKit } from '../worker-deps.ts'

/**
 * All that is left running, by who inherits the lead. Its owners are gone if the term still inherits when they are known: what
 * is taken back are those claims, however late it happens, and none that somebody made since.
 */
export async function reapInherited(kit: WorkerKit, term: Term): Promise<void> {
  const left = await kit.store.runs.list({ status: 'running' })
  const tokens = left.flatMap(({ leaseOwner }) => leaseOwner ?? [])
  if (term.inherits && tokens.length > 0) await reapLostRuns(kit, { tokens })
}

/** Answers how many. */
export async function reapLostRuns(kit: WorkerKit, which: Pick<ReapRequest, 'tokens'> = {}): Promise<number> {
  for (let total = 0; ; ) {
    const reaped = await kit.store.runs.reap({ maxRecoveries: kit.maxRecoveries, ...which })
    for (const { run, move } of reaped) kit.runEvents.emit(run, TRANSITIONS[move].event, { error: run.error ?? '' })
    total += reaped.length
    if (reaped.length < REAP_MAX) return total
  }
}
