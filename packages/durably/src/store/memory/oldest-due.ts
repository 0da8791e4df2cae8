import type { RunRow } from '../../model/run.ts'
import type { OldestDue } from '../runs.ts'
import { byTurn } from './job-queue.ts'
import type { Tables } from './tables.ts'

export function oldestDue(tables: Tables, jobNames: readonly string[]): OldestDue | null {
  const { nowMs } = tables
  const due: RunRow[] = jobNames.flatMap((jobName) => tables.queue(jobName)?.firstDue(nowMs) ?? [])
  const [oldest] = due.sort(byTurn)
  return oldest ? { id: oldest.id, jobName: oldest.jobName, runAt: oldest.runAt, lagMs: nowMs - oldest.runAt } : null
}
