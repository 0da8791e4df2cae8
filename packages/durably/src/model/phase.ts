// Phase — the one word a person sees. Derived, never stored: first match wins.
import type { RunRow, RunStatus } from './run.ts'
import { awaitsSignal } from './wait.ts'

export const PHASES = ['pending', 'sleeping', 'waiting', 'running', 'cancelling', 'stale', 'completed', 'failed', 'cancelled'] as const
export type Phase = (typeof PHASES)[number]

export type PhaseFacts = Pick<RunRow, 'runAt' | 'leaseExpiresAt' | 'cancelRequestedAt' | 'waitingFor'> & { status: RunStatus }

export function phase(row: PhaseFacts, nowMs: number): Phase {
  if (row.status === 'running') {
    if (row.leaseExpiresAt !== null && row.leaseExpiresAt <= nowMs) return 'stale'
    return row.cancelRequestedAt === null ? 'running' : 'cancelling'
  }
  if (row.status === 'pending' && row.runAt > nowMs) return awaitsSignal(row.waitingFor) ? 'waiting' : 'sleeping'
  return row.status
}
