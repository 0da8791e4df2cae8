import type { RunRow } from '../../model/run.ts'
import type { Audited } from '../cluster/audit.ts'
import type { WorkerEntry, WorkerRow, WorkerState } from '../cluster/workers.ts'
import { LEASE_MS_MAX } from '../runs.ts'
import { record } from './audit.ts'
import type { KeptWorker, Tables } from './tables.ts'

export function attend(tables: Tables, { lastsMs, ...entry }: WorkerEntry): WorkerState | null {
  const { workers, nowMs } = tables
  const known = workers.get(entry.id)
  const isSame = known?.token === entry.token
  if (known && !isSame && known.state !== 'detached' && isThere(known, nowMs)) return null
  const { state, attachedAt } = isSame ? known : { state: 'attached' as const, attachedAt: nowMs }
  workers.set(entry.id, { state, attachedAt, heartbeatAt: nowMs, expiresAt: nowMs + lastsMs, ...entry })
  return state
}

export function leave({ workers }: Tables, { id, token }: Pick<WorkerEntry, 'id' | 'token'>): void {
  if (workers.get(id)?.token === token) workers.delete(id)
}

export function switchWorker(tables: Tables, id: string, state: WorkerState, options: Audited = {}): boolean {
  const worker = tables.workers.get(id)
  if (!worker) return false
  if (worker.state !== state) record(tables, options, null)
  worker.state = state
  return true
}

export function workers(tables: Tables): WorkerRow[] {
  const assigned = countedBy(tables.assigned, ({ assignedWorkerId }) => assignedWorkerId)
  const running = countedBy(tables.leases.ascending(), ({ workerId }) => workerId)
  return Array.from(tables.workers.values(), ({ id, labels, capacity, jobNames, version, state, attachedAt, heartbeatAt, expiresAt }) => ({
    id,
    labels,
    capacity,
    jobNames,
    version,
    state,
    attachedAt,
    heartbeatAt,
    expiresInMs: expiresAt - tables.nowMs,
    assigned: assigned.get(id) ?? 0,
    running: running.get(id) ?? 0,
  })).sort((a, b) => (a.id < b.id ? -1 : 1))
}

function countedBy(rows: Iterable<RunRow>, workerOf: (row: RunRow) => string | null): ReadonlyMap<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const row of rows) counts.set(workerOf(row), (counts.get(workerOf(row)) ?? 0) + 1)
  return counts
}

/** It is not silent. An entry that lasts much longer was written by a broken clock. */
function isThere({ expiresAt }: KeptWorker, nowMs: number): boolean {
  return expiresAt > nowMs && expiresAt <= nowMs + LEASE_MS_MAX
}
