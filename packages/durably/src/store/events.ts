import type { EventRow } from '../model/event.ts'

export interface EventStore {
  /** The event log of a run by `seq`, from the first one above `after`. */
  list(runId: string, page?: EventPage): Promise<EventRow[]>
  /** How far the logs of these runs go: the last `seq` of each run that is there. */
  heads(runIds: readonly string[]): Promise<Map<string, number>>
}

export interface EventPage {
  after?: number
  limit?: number
}
