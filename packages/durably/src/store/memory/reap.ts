import type { RecordedPayload } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import { crashLoopError, DEADLINE_ERROR } from '../loss-errors.ts'
import { eventOf } from '../owner-write.ts'
import { LEASE_MS_MAX, lossOf, REAP_MAX, type Reaped, type ReapRequest } from '../runs.ts'
import { byLeaseEnd, leaseEnd } from './orders.ts'
import type { Tables } from './tables.ts'

export function reap(tables: Tables, { maxRecoveries, tokens }: ReapRequest): Reaped[] {
  return (tokens ? heldUnder(tables, tokens) : lostRuns(tables)).flatMap((row) => {
    const record = tables.records.get(row.id)
    if (!record) return []
    const { move, columns, payload } = (!tokens && spared(row, tables.nowMs)) || fate(row, maxRecoveries, tables.nowMs)
    tables.move(record, move, (row) => Object.assign(row, columns), [{ type: eventOf(move), payload, createdAt: tables.nowIso }])
    return { run: { ...row }, move }
  })
}

/** Leases that a broken clock has set far ahead are lost, too; they are at the end of the order. */
function lostRuns(tables: Tables): RunRow[] {
  const { nowMs } = tables
  const lost: RunRow[] = []
  for (const row of tables.leases.ascending()) {
    if (leaseEnd(row) > nowMs || lost.length === REAP_MAX) break
    lost.push(row)
  }
  for (const row of tables.leases.ascending((row) => leaseEnd(row) > nowMs + LEASE_MS_MAX)) {
    if (lost.length === REAP_MAX) break
    lost.push(row)
  }
  return lost
}

function heldUnder(tables: Tables, tokens: readonly string[]): RunRow[] {
  const held = [...new Set(tokens)].flatMap((token) => tables.heldUnder(token)?.row ?? [])
  return held.sort(byLeaseEnd).slice(0, REAP_MAX)
}

interface Fate {
  move: Reaped['move']
  columns: Partial<RunRow>
  payload: RecordedPayload
}

/** Its owner may still come back: it is marked, once, and its lease lasts until then. */
function spared({ continuationState, leaseExpiresAt, confirmMs }: RunRow, nowMs: number): Fate | null {
  const deadline = (leaseExpiresAt ?? 0) + (confirmMs ?? 0)
  if (continuationState !== null || leaseExpiresAt === null || leaseExpiresAt > nowMs || deadline <= nowMs) return null
  const columns: Partial<RunRow> = { continuationState: 'CONFIRMING', continuationCheckDeadlineAt: deadline, leaseExpiresAt: deadline }
  return { move: 'confirm', columns, payload: {} }
}

function fate(row: RunRow, maxRecoveries: number, nowMs: number): Fate {
  if (row.cancelRequestedAt !== null) return { move: 'reclaimCancelled', columns: {}, payload: {} }
  if (row.deadlineAt !== null && row.deadlineAt <= nowMs) return failed('reclaimTimedOut', 'timeout', DEADLINE_ERROR)
  if (row.recoveries + 1 <= maxRecoveries) return { move: 'reclaim', columns: { recoveries: row.recoveries + 1 }, payload: {} }
  return failed('reclaimCrashLoop', 'crash_loop', crashLoopError(maxRecoveries))
}

function failed(move: Reaped['move'], reason: 'crash_loop' | 'timeout', error: string): Fate {
  const failure = lossOf(reason, error)
  return { move, columns: { error, failure: JSON.stringify(failure), reason }, payload: { error, failure, failedStepName: '' } }
}
