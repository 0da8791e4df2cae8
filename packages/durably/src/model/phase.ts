// Phase — the one word a person sees. Derived, never stored: first match wins.
import type { RunRow, RunStatus } from './run.ts'
import { awaitsSignal } from './wait.ts'

export const PHASES = [
  'pending',
  'assigned',
  'orphaned',
  'sleeping',
  'waiting',
  'running',
  'cancelling',
  'stale',
  'confirming',
  'completed',
  'failed',
  'cancelled',
] as const
/**
 * The state of a run for people: its status in more detail. `pending`: it is due and waits for a worker. `assigned`: a leader has chosen its
 * worker, which has not started it yet. `orphaned`: that worker is gone, and a leader will choose another one. `sleeping`: it is due later,
 * because of a delay, a sleep or a retry. `waiting`: it waits for a signal, a decision or another run. `running`: a worker executes it.
 * `cancelling`: it was asked to stop and has not yet. `stale`: its lease has expired, and another worker will take it over. `confirming`: its
 * lease has expired, but its worker may still come back (`confirmFor`). `completed`,
 * `failed` and `cancelled`: it has ended.
 */
export type Phase = (typeof PHASES)[number]

export type PhaseFacts = Pick<
  RunRow,
  'runAt' | 'leaseExpiresAt' | 'cancelRequestedAt' | 'waitingFor' | 'continuationState' | 'assignedWorkerId' | 'assignedAt' | 'readAt'
> & {
  status: RunStatus
}

/** `wallMs`: the clock of this process, which is the store's unless the row says otherwise. */
export function phase(row: PhaseFacts, wallMs: number): Phase {
  const nowMs = row.readAt ?? wallMs
  if (row.status === 'running') {
    if (row.leaseExpiresAt !== null && row.leaseExpiresAt <= nowMs) return 'stale'
    if (row.continuationState !== null) return 'confirming'
    return row.cancelRequestedAt === null ? 'running' : 'cancelling'
  }
  if (row.status === 'pending' && row.runAt > nowMs) return awaitsSignal(row.waitingFor) ? 'waiting' : 'sleeping'
  if (row.status === 'pending' && row.assignedAt !== null) return row.assignedWorkerId === null ? 'orphaned' : 'assigned'
  return row.status
}
