// A live run as it arrives: due, without an owner, and with everything that it has recorded.
import type { Row } from './row.ts'

/** A run that executed is due at once, as one that a worker gave back. */
export function arrivedRun(row: Row, nowMs: number): Row {
  const wasRunning = row.status === 'running'
  return {
    ...row,
    status: 'pending',
    ...(wasRunning && { run_at: nowMs, last_event_sequence: Number(row.last_event_sequence) + 1 }),
    lease_owner: null,
    lease_expires_at: null,
    lease_writes: 0,
    // Greater than that of the fence, so that no write of an old owner would ever be accepted.
    lease_generation: Number(row.lease_generation) + 1,
    version: Number(row.version) + 1,
    assigned_worker_id: null,
    assigned_at: null,
    leader_epoch: null,
    continuation_state: null,
    continuation_check_deadline_at: null,
  }
}

/** Its log says that it was given back. */
export function releaseEvent(row: Row, nowMs: number): Row[] {
  if (row.status !== 'running') return []
  const payload = JSON.stringify({ generation: Number(row.lease_generation) })
  const seq = Number(row.last_event_sequence) + 1
  return [{ run_id: row.id, seq, event_type: 'run:release', payload, created_at: new Date(nowMs).toISOString() }]
}
