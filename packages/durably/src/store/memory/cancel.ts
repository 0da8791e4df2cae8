import { isTerminal, type RunRow } from '../../model/run.ts'
import { canMove, TRANSITIONS } from '../../model/transitions.ts'
import type { CancelOutcome, Changed, StoppedRun, StoreCommand } from '../runs.ts'
import { record as recordEntry } from './audit.ts'
import { isChanged, moveRun } from './client-moves.ts'
import { compareText } from './orders.ts'
import type { RunRecord } from './run-record.ts'
import type { Tables } from './tables.ts'

export function cancel(tables: Tables, id: string, options: StoreCommand = {}): CancelOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { row } = record
  const { version } = row
  if (isChanged(row, options)) return { outcome: 'changed', version }
  const outcome = stop(tables, record)
  const others = passesOn(row) ? stopBelow(tables, id) : []
  if (row.version > version || others.length > 0) recordEntry(tables, options, row.version)
  return { outcome, run: { ...row }, others: others.sort((a, b) => compareText(a.id, b.id)) }
}

function stop(tables: Tables, record: RunRecord): CancelOutcome['outcome'] {
  const { row } = record
  if (canMove('cancel', row.status)) {
    moveRun(tables, record, 'cancel', { cancelRequestedAt: tables.nowMs })
    return 'cancelled'
  }
  if (row.status !== 'running') return 'refused'
  requestCancel(tables, row)
  return 'requested'
}

/** A cancel of a run reaches the runs that it triggered, unless it has completed or failed. */
function passesOn({ status }: RunRow): boolean {
  return !isTerminal(status) || status === TRANSITIONS.cancel.to
}

/** From the top down, so that a run that ends is not woken by the end of those below it. */
function stopBelow(tables: Tables, id: string): StoppedRun[] {
  const stopped: StoppedRun[] = []
  for (const parents = [id]; parents.length > 0; ) {
    for (const child of tables.known.childrenOf(parents.pop() ?? '')) {
      const record = tables.records.get(child.id)
      if (!record || !passesOn(child)) continue
      const { version } = child
      const outcome = stop(tables, record)
      if (outcome !== 'refused' && child.version > version) stopped.push({ outcome, id: child.id, jobName: child.jobName })
      parents.push(child.id)
    }
  }
  return stopped
}

/** Asked once is enough: the first request keeps its time. */
function requestCancel(tables: Tables, row: RunRow): void {
  if (row.cancelRequestedAt !== null) return
  row.cancelRequestedAt = tables.nowMs
  row.updatedAt = tables.nowIso
  row.version += 1
}
