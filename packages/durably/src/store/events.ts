import type { EventRow } from '../model/event.ts'

/** The event logs of runs. */
export interface EventStore {
  /** The event log of a run by `seq`, beginning after `after`. */
  list(runId: string, page?: EventPage): Promise<EventRow[]>
  /** The last `seq` of each of these runs, as far as they exist. */
  heads(runIds: readonly string[]): Promise<Map<string, number>>
}

/** Which part of an event log is read. */
export interface EventPage {
  /** The `seq` after which the page begins. Default 0: at the first event. */
  after?: number
  /** How many events are read at most. Default: all. */
  limit?: number
}
