import type { RunRow } from '../../model/run.ts'
import type { PurgeRequest } from '../runs.ts'
import { byEnd, endOf } from './orders.ts'
import type { Tables } from './tables.ts'

export function purge(tables: Tables, { statuses, olderThanMs, jobNames, limit }: PurgeRequest): number {
  const end = tables.nowMs - olderThanMs
  const page = [...new Set(statuses)].flatMap((status) => {
    const old: RunRow[] = []
    for (const row of tables.ended[status].ascending()) {
      if (endOf(row) > end || old.length === limit) break
      if ((!jobNames || jobNames.includes(row.jobName)) && tables.isDeletable(row)) old.push(row)
    }
    return old
  })
  const oldest = page.sort(byEnd).slice(0, limit)
  for (const record of oldest.flatMap(({ id }) => tables.records.get(id) ?? [])) tables.remove(record)
  return oldest.length
}
