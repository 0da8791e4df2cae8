import type { EventRow } from '../../model/event.ts'
import type { EventStore } from '../events.ts'
import type { Tables } from './tables.ts'

export function memoryEvents(tables: Tables): EventStore {
  return {
    async list(runId, { after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      const events = tables.records.get(runId)?.kept.events ?? []
      const first = firstAbove(events, after)
      return events.slice(first, first + limit).map((event) => ({ ...event }))
    },
    async heads(runIds) {
      const rows = runIds.flatMap((id) => tables.records.get(id)?.row ?? [])
      return new Map(rows.map(({ id, lastEventSequence }) => [id, lastEventSequence]))
    },
  }
}

/** The place of the first event with a higher `seq`; there may be gaps, so it is searched for. */
function firstAbove(events: readonly EventRow[], seq: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.seq ?? 0) > seq) high = middle
    else low = middle + 1
  }
  return low
}
