import type { DueJobsRequest } from '../runs.ts'
import type { Tables } from './tables.ts'

export function dueJobs(tables: Tables, { waitedMs, except, limit }: DueJobsRequest): string[] {
  const due = Array.from(tables.queues()).filter(([name, queue]) => !except.includes(name) && queue.hasDue(tables.nowMs - waitedMs))
  return due.slice(0, limit).map(([name]) => name)
}
