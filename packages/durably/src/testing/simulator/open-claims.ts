// What must hold of a claim of open runs (`claimOpen`), which leaves runs to workers that they prefer.
//   I71. It takes no run that prefers another worker which is there, before the time of that is over, and no later run of the same key.
//   I72. One that takes nothing leaves no run behind that it could take: none waits for a worker that is gone, or longer than it may.
import { holdsKey } from '../../model/key-in-use.ts'
import type { RunRow } from '../../model/run.ts'
import type { OpenClaimRequest } from '../../store/cluster/assignments.ts'
import type { WorkerRow } from '../../store/cluster/workers.ts'
import type { Violation } from '../invariants/index.ts'

/** What the store had before the claim, and when it was read. */
export interface BeforeClaim {
  nowMs: number
  /** Those that were pending. */
  runs: ReadonlyMap<string, RunRow>
  workers: ReadonlyMap<string, WorkerRow>
}

/** `afterMs`: the store's time after the claim. */
export function checkOpenClaim(before: BeforeClaim, afterMs: number, request: OpenClaimRequest, claimed: readonly RunRow[]): Violation[] {
  const { workerId, preferMs, jobNames } = request
  const violations: Violation[] = []
  const pending = [...before.runs.values()]
  /** At the latest or the earliest time at which the claim may have been carried out. */
  const isLeft = ({ preferWorkerId, runAt }: RunRow, nowMs: number) => {
    const worker = preferWorkerId === null || preferWorkerId === workerId ? undefined : before.workers.get(preferWorkerId)
    return worker?.state === 'attached' && worker.expiresInMs > nowMs - before.nowMs && runAt + preferMs > nowMs
  }
  const latestMs = Math.max(before.nowMs, afterMs)
  const left = pending.filter((run) => isLeft(run, latestMs))
  for (const { id } of claimed) {
    // A claim that is sent again is answered with what it claimed the first time.
    const run = before.runs.get(id)
    if (!run) continue
    const other = left.find((one) => one.id === id || (!holdsKey(run) && isLater(run, one)))
    if (other)
      violations.push({ invariant: 'I71', runId: id, what: `was started by ${workerId}, but ${other.id} prefers ${other.preferWorkerId}` })
  }
  const earliestMs = Math.min(before.nowMs, afterMs)
  const isFree = (run: RunRow) => run.concurrencyKey === null && run.runAt <= earliestMs && jobNames.includes(run.jobName)
  const forgotten = claimed.length > 0 ? undefined : pending.find((run) => isFree(run) && !isLeft(run, earliestMs))
  if (forgotten && request.tokens.length > 0)
    violations.push({
      invariant: 'I72',
      runId: forgotten.id,
      what: `${workerId} left it alone; it prefers ${forgotten.preferWorkerId ?? 'nobody'}`,
    })
  return violations
}

function isLater(run: RunRow, other: RunRow): boolean {
  const isSameKey = run.concurrencyKey !== null && run.concurrencyKey === other.concurrencyKey
  return isSameKey && (run.runAt - other.runAt || (run.id < other.id ? -1 : 1)) > 0
}
