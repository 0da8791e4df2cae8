import type { LogRow } from '../../model/log.ts'
import type { LogStore } from '../logs.ts'
import type { Tables } from './tables.ts'

export function memoryLogs(tables: Tables): LogStore {
  const linesOf = (runId: string) => tables.records.get(runId)?.kept.logs ?? []
  return {
    async append(lines) {
      for (const line of lines) {
        const record = tables.records.get(line.runId)
        if (record) tables.log(record, [line])
      }
    },
    async list(runId, { after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const lines = linesOf(runId).filter(({ id }) => id > after)
      return copies(lines.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit))
    },
    async find(runId, ids) {
      const wanted = new Set(ids)
      return copies(linesOf(runId).filter(({ id }) => wanted.has(id)))
    },
  }
}

function copies(lines: readonly LogRow[]): LogRow[] {
  return lines.map((line) => ({ ...line }))
}
