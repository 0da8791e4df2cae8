import { LEASE_MS_MAX, type Probe } from '../runs.ts'
import { leaseEnd } from './orders.ts'
import type { Tables } from './tables.ts'

export function probe(tables: Tables, jobNames: readonly string[]): Probe {
  const { nowMs } = tables
  const queues = jobNames.flatMap((jobName) => tables.queue(jobName) ?? [])
  const firstLease = tables.leases.first()
  const nextLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs)
  const brokenLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs + LEASE_MS_MAX)
  const ahead = queues.flatMap((queue) => queue.nextRunAt(nowMs) ?? [])
  if (nextLease && nextLease !== brokenLease) ahead.push(leaseEnd(nextLease))
  const duties = Array.from(tables.schedules.values()).flatMap(({ paused, nextAt }) => (paused ? [] : nextAt - nowMs))
  return {
    due: queues.some((queue) => queue.hasDue(nowMs)),
    stale: brokenLease !== undefined || (firstLease !== undefined && leaseEnd(firstLease) <= nowMs),
    nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - nowMs,
    ...(duties.length > 0 && { dutyInMs: Math.min(...duties) }),
    ...(tables.undelivered.size > 0 && { hasEvents: true }),
  }
}
