import type { EventRow } from '../model/event.ts'

export interface EventStore {
  /** The event log of a run by `seq`, from the first one above `after`. */
  list(runId: string, page?: EventPage): Promise<EventRow[]>
}

export interface EventPage {
  after?: number
  limit?: number
}
