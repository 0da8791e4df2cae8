// Takes back the runs of lost workers, at any time and by any worker, and tells what became of them.
import { REAP_MAX, type Reaped, type ReapRequest } from '../store/runs.ts'
import type { WorkerKit } from './kit.ts'

/** Answers how many. */
export async function reapLostRuns(kit: WorkerKit, which: Pick<ReapRequest, 'ownersAreGone'> = {}): Promise<number> {
  for (let total = 0; ; ) {
    const reaped = await kit.store.runs.reap({ maxRecoveries: kit.maxRecoveries, ...which })
    for (const one of reaped) tell(kit, one)
    total += reaped.length
    if (reaped.length < REAP_MAX) return total
  }
}

function tell({ emitter }: WorkerKit, { run, move }: Reaped): void {
  const facts = { runId: run.id, jobName: run.jobName }
  switch (move) {
    case 'reclaim':
      return emitter.emit({ type: 'run:reclaim', ...facts })
    case 'reclaimCancelled':
      return emitter.emit({ type: 'run:cancel', ...facts })
    case 'reclaimTimedOut':
    case 'reclaimCrashLoop':
      return emitter.emit({ type: 'run:fail', ...facts, error: run.error ?? '', failedStepName: '' })
  }
}
