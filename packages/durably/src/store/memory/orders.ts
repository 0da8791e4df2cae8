// The orders in which the memory store keeps its rows.
import type { RunRow } from '../../model/run.ts'

/** Oldest first; a list reads it backwards. */
export function byId(a: Pick<RunRow, 'id'>, b: Pick<RunRow, 'id'>): number {
  return compareText(a.id, b.id)
}

export function byLeaseEnd(a: RunRow, b: RunRow): number {
  return leaseEnd(a) - leaseEnd(b) || compareText(a.id, b.id)
}

/** Oldest first. Only rows that have ended are compared. */
export function byEnd(a: Ended, b: Ended): number {
  return endOf(a) - endOf(b) || compareText(a.id, b.id)
}

type Ended = Pick<RunRow, 'id' | 'finishedAt'>

export function endOf(row: Ended): number {
  return row.finishedAt ?? 0
}

/** Only running rows are compared, and those have a lease. */
export function leaseEnd(row: RunRow): number {
  return row.leaseExpiresAt ?? 0
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
