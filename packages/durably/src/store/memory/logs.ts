import type { LogRow } from '../../model/log.ts'
import type { LogStore } from '../logs.ts'
import type { Tables } from './tables.ts'

export function memoryLogs(tables: Tables): LogStore {
  const linesOf = (runId: string): LogRow[] => (tables.records.get(runId)?.kept.logs ?? []).map((line) => ({ ...line }))
  return {
    async append(lines) {
      for (const line of lines) {
        const record = tables.records.get(line.runId)
        if (record) tables.log(record, [line])
      }
    },
    list: async (runId) => linesOf(runId),
    find: async (runId, ids) => linesOf(runId).filter(({ id }) => ids.includes(id)),
  }
}
