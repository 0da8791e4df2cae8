import type { EventStore } from '../events.ts'
import type { Tables } from './tables.ts'

export function memoryEvents(tables: Tables): EventStore {
  return {
    async list(runId, { after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      // `seq` is gapless from 1, so it is also the place.
      const events = tables.records.get(runId)?.events.slice(after, after + limit) ?? []
      return events.map((event) => ({ ...event }))
    },
  }
}
