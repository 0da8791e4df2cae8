// History — what a store holds after a sequence, in a form that must be the same on every store.
// Ids are the caller's and the same everywhere (D1); times are told from the start of the sequence.
import { type Everything, START_MS } from './world.ts'

const TIMES = new Set([
  ...['runAt', 'leaseExpiresAt', 'cancelRequestedAt', 'deadlineAt', 'startedAt', 'finishedAt', 'continuationCheckDeadlineAt', 'assignedAt'],
  ...['createdAt', 'updatedAt', 'heartbeatAt', 'completedAt', 'timestamp'],
])

export function historyOf(kept: readonly Everything[]): unknown {
  return JSON.parse(JSON.stringify(kept, fromStart))
}

function fromStart(column: string, value: unknown): unknown {
  if (!TIMES.has(column) || value === null) return value
  return (typeof value === 'string' ? Date.parse(value) : Number(value)) - START_MS
}
