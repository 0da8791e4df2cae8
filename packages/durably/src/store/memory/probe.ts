import { LEASE_MS_MAX, type Probe } from '../runs.ts'
import { leaseEnd } from './orders.ts'
import type { Tables } from './tables.ts'

export function probe(tables: Tables, jobNames: readonly string[]): Probe {
  const { nowMs, schedules, undelivered } = tables
  const firstLease = tables.leases.first()
  const nextLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs)
  const brokenLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs + LEASE_MS_MAX)
  const stale = brokenLease !== undefined || (firstLease !== undefined && leaseEnd(firstLease) <= nowMs)
  let due = false
  let nextAt = nextLease && nextLease !== brokenLease ? leaseEnd(nextLease) : Number.POSITIVE_INFINITY
  for (const jobName of jobNames) {
    const queue = tables.queue(jobName)
    if (!queue) continue
    due ||= queue.hasDue(nowMs)
    nextAt = Math.min(nextAt, queue.nextRunAt(nowMs) ?? nextAt)
  }
  const found: Probe = { due, stale, nextInMs: nextAt === Number.POSITIVE_INFINITY ? null : nextAt - nowMs }
  if (schedules.size > 0) {
    const duties = Array.from(schedules.values()).flatMap((schedule) => (schedule.paused ? [] : schedule.nextAt - nowMs))
    if (duties.length > 0) found.dutyInMs = Math.min(...duties)
  }
  if (undelivered.size > 0) found.hasEvents = true
  return found
}
