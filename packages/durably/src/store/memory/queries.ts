import type { RunRow } from '../../model/run.ts'
import type { RunQuery } from '../runs.ts'
import { byAge, type Tables } from './tables.ts'

export function get(tables: Tables, id: string): RunRow | null {
  const record = tables.records.get(id)
  return record ? { ...record.row } : null
}

export function list(tables: Tables, { status, jobName, limit = Number.POSITIVE_INFINITY, after }: RunQuery): RunRow[] {
  const rows: RunRow[] = []
  for (const row of tables.byAge.descending((row) => after !== undefined && byAge(row, after) >= 0)) {
    if (rows.length >= limit) break
    if (status !== undefined && row.status !== status) continue
    if (jobName !== undefined && row.jobName !== jobName) continue
    rows.push({ ...row })
  }
  return rows
}
