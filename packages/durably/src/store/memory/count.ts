import { phase } from '../../model/phase.ts'
import { isTerminal } from '../../model/run.ts'
import type { RunCount } from '../runs.ts'
import type { Tables } from './tables.ts'

export function count(tables: Tables, jobNames?: readonly string[]): RunCount[] {
  const counts = new Map<string, RunCount>()
  for (const { row } of tables.records.values()) {
    if (jobNames && !jobNames.includes(row.jobName)) continue
    const one = { phase: phase(row, tables.nowMs), isRetried: row.attempts > 0 && !isTerminal(row.status), count: 1 }
    const key = `${one.phase} ${one.isRetried}`
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
