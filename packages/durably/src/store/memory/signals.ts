import { isTerminal } from '../../model/run.ts'
import type { SignalRow } from '../../model/signal.ts'
import { wakesBySignal } from '../../model/wait.ts'
import type { SignalStore } from '../signals.ts'
import { record as recordEntry } from './audit.ts'
import type { Tables } from './tables.ts'

export function memorySignals(tables: Tables): SignalStore {
  return {
    async send(signal, options = {}) {
      tables.begin()
      const record = tables.records.get(signal.runId)
      if (!record) return null
      const known = record.kept.signals.find(({ name }) => name === signal.name)
      if (known) return known.id === signal.id ? 'accepted' : 'taken'
      if (isTerminal(record.row.status)) return 'ended'
      record.own.signals.push({ ...signal })
      tables.signalled(record, wakesBySignal(record.row, signal.name))
      recordEntry(tables, options, null)
      return 'accepted'
    },
    list: async (runId) => (tables.records.get(runId)?.kept.signals ?? []).map((signal) => ({ ...signal })).sort(byTime),
  }
}

function byTime(a: SignalRow, b: SignalRow): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.name < b.name ? -1 : 1
}
