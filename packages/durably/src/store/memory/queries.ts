import type { Labels } from '../../model/labels.ts'
import { phase } from '../../model/phase.ts'
import type { RunRow } from '../../model/run.ts'
import type { RunPlace, RunQuery } from '../runs.ts'
import { byEnd, byId } from './orders.ts'
import type { Tables } from './tables.ts'

export function get(tables: Tables, id: string): RunRow | null {
  return copyOf(tables.records.get(id)?.row)
}

/** Copies, because callers must not get the rows of the store (M3). */
export function copyOf(row: RunRow | undefined): RunRow | null {
  return row ? { ...row } : null
}

export function list(tables: Tables, query: RunQuery): RunRow[] {
  const { limit = Number.POSITIVE_INFINITY, withoutValues = false } = query
  const rows: RunRow[] = []
  for (const row of candidates(tables, query)) {
    if (rows.length >= limit) break
    if (fits(row, query, tables.nowMs)) rows.push(withoutValues ? { ...row, payload: null, output: null } : { ...row })
  }
  return rows
}

/** In the order of the list. */
function candidates(tables: Tables, query: RunQuery): Iterable<RunRow> {
  const { parentRunId, after, oldestFirst } = query
  const isByEnd = query.finishedFrom !== undefined || query.finishedBefore !== undefined
  const order = isByEnd ? byEnd : byId
  const isPast = (row: RunRow) => !after || order(row, placed(after)) * (oldestFirst ? 1 : -1) > 0
  if (!isByEnd && parentRunId === undefined) {
    return oldestFirst ? tables.byId.ascending(isPast) : tables.byId.descending((row) => !isPast(row))
  }
  const rows =
    parentRunId === undefined
      ? Object.values(tables.ended).flatMap((ended) => [...ended.ascending()])
      : tables.known.childrenOf(parentRunId)
  return rows.filter(isPast).sort(oldestFirst ? order : (a, b) => order(b, a))
}

function placed({ id, finishedAt = 0 }: RunPlace): Pick<RunRow, 'id' | 'finishedAt'> {
  return { id, finishedAt }
}

function fits(row: RunRow, query: RunQuery, nowMs: number): boolean {
  const {
    statuses,
    phases,
    timedOut,
    jobNames,
    concurrencyKey,
    idempotencyKey,
    parentRunId,
    scheduleId,
    labels,
    fromId = '',
    beforeId,
    finishedFrom,
    finishedBefore,
  } = query
  const { finishedAt } = row
  return (
    (!statuses || statuses.includes(row.status)) &&
    (!phases || phases.includes(phase(row, nowMs))) &&
    (timedOut === undefined || row.status !== 'failed' || (row.reason === 'timeout') === timedOut) &&
    (!jobNames || jobNames.includes(row.jobName)) &&
    (concurrencyKey === undefined || row.concurrencyKey === concurrencyKey) &&
    (idempotencyKey === undefined || row.idempotencyKey === idempotencyKey) &&
    (parentRunId === undefined || row.parentRunId === parentRunId) &&
    (scheduleId === undefined || row.scheduleId === scheduleId) &&
    (!labels || hasLabels(row, labels)) &&
    row.id >= fromId &&
    (beforeId === undefined || row.id < beforeId) &&
    (finishedFrom === undefined || (finishedAt !== null && finishedAt >= finishedFrom)) &&
    (finishedBefore === undefined || (finishedAt !== null && finishedAt < finishedBefore))
  )
}

function hasLabels(row: RunRow, wanted: Labels): boolean {
  const labels = JSON.parse(row.labels ?? '{}') as Labels
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}
