import { isTerminal, type RunRow } from '../../model/run.ts'
import { decodeStreams } from '../../model/stream.ts'
import type { ArchivableRun, ArchiveStore } from '../archive.ts'
import { byId } from './orders.ts'
import type { Tables } from './tables.ts'

export function memoryArchive(tables: Tables): ArchiveStore {
  return {
    async candidates({ after, before, limit }) {
      const ids: string[] = []
      for (const { id } of tables.byId.ascending((row) => row.id > after)) {
        if (id >= before || ids.length === limit) break
        const { events = [], logs = [] } = tables.records.get(id)?.kept ?? {}
        if (events.length + logs.length > 0) ids.push(id)
      }
      return ids
    },
    async begin(runIds, olderThanMs) {
      tables.begin()
      const rows = runIds.flatMap((id) => tables.records.get(id)?.row ?? [])
      return rows
        .filter((row) => isOver(row, tables.nowMs - olderThanMs))
        .map(begun)
        .sort(byId)
    },
    async move({ runId, version, logRef, nextRef, firstSeq, lastSeq, lineIds }) {
      const record = tables.records.get(runId)
      if (!record) return 'gone'
      const { row, own } = record
      if (row.logRef === nextRef) return 'moved'
      if (row.logRef !== logRef || row.version !== version) return 'changed'
      row.logRef = nextRef
      own.events = own.events.filter(({ seq }) => seq < firstSeq || seq > lastSeq)
      tables.forgetLines(record, new Set(lineIds))
      return 'moved'
    },
    async removed(limit) {
      return [...tables.removed].sort().slice(0, limit)
    },
    async forget(runIds) {
      for (const id of runIds) tables.removed.delete(id)
    },
  }
}

function isOver({ status, finishedAt, streams }: RunRow, endMs: number): boolean {
  if (!isTerminal(status) || finishedAt === null || finishedAt > endMs) return false
  return status !== 'failed' || decodeStreams(streams).length === 0
}

function begun(row: RunRow): ArchivableRun {
  row.logRef ??= ''
  return { id: row.id, version: row.version, logRef: row.logRef }
}
