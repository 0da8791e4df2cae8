// Retry and delete: what clients do to a run that has ended.
import { isTerminal, type RunRow } from '../../model/run.ts'
import { canMove, type Move } from '../../model/transitions.ts'
import { eventOf } from '../owner-write.ts'
import type { Changed, DeleteOutcome, RetryOutcome, StoreCommand } from '../runs.ts'
import { record as recordEntry } from './audit.ts'
import type { RunRecord } from './run-record.ts'
import type { Tables } from './tables.ts'

export function retry(tables: Tables, id: string, options: StoreCommand = {}): RetryOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { row } = record
  if (isChanged(row, options)) return { outcome: 'changed', version: row.version }
  const parent = tables.records.get(row.parentRunId ?? '')?.row
  if (!canMove('retry', row.status) || (parent && parent.cancelRequestedAt !== null)) return { outcome: 'refused', run: { ...row } }
  forgetRefusedSignals(record)
  moveRun(tables, record, 'retry', {
    error: null,
    failure: null,
    reason: null,
    output: null,
    cancelRequestedAt: null,
    recoveries: 0,
    attempts: 0,
    retryGeneration: row.leaseGeneration,
    // A deadline that is over would make the run fail again at once.
    deadlineAt: row.deadlineAt !== null && row.deadlineAt > tables.nowMs ? row.deadlineAt : null,
  })
  recordEntry(tables, options, row.version)
  return { outcome: 'retried', run: { ...row } }
}

/** A signal that made a step fail, and that no step has accepted, is removed: the run will wait for another one. */
function forgetRefusedSignals({ kept, own }: RunRecord): void {
  const failed = new Set([...kept.steps.values()].flatMap(({ name, status }) => (status === 'failed' ? name : [])))
  own.signals = kept.signals.filter(({ name }) => !failed.has(name) || kept.completedStepNames.has(name))
}

export function deleteRun(tables: Tables, id: string, options: StoreCommand = {}): DeleteOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { status, version } = record.row
  if (isChanged(record.row, options)) return { outcome: 'changed', version }
  if (!isTerminal(status) || !tables.isDeletable(record.row)) return { outcome: 'refused', status }
  tables.remove(record)
  recordEntry(tables, options, null)
  return { outcome: 'deleted', status }
}

/** The run has another version than the one that was asked for. */
export function isChanged({ version }: RunRow, { ifVersion }: StoreCommand): boolean {
  return ifVersion !== undefined && version !== ifVersion
}

/** A move by a client: changes these columns and appends the event of the move. */
export function moveRun(tables: Tables, record: RunRecord, move: Move, columns: Partial<RunRow>): void {
  tables.move(record, move, (row) => Object.assign(row, columns), [{ type: eventOf(move), payload: {}, createdAt: tables.nowIso }])
}
