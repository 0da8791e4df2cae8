import type { LogStore } from '../logs.ts'
import type { Tables } from './tables.ts'

export function memoryLogs(tables: Tables): LogStore {
  return {
    async append(lines) {
      for (const line of lines) {
        const record = tables.records.get(line.runId)
        if (record) tables.log(record, [line])
      }
    },
    async list(runId) {
      return (tables.records.get(runId)?.logs ?? []).map((line) => ({ ...line }))
    },
  }
}
