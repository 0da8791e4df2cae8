// Events that were sent, and the runs that they become.
//   N1. An event becomes its runs once: they are created in the transaction that marks it as delivered, and only if it was not.
//   N2. A delivery needs its epoch to be that of the leader now: a leader that was replaced is refused.
//   N3. A dedupe key belongs to one event, until that event was delivered longer ago than keys are kept (`SettingsValue`).
import type { RunRow } from '../../model/run.ts'
import type { CreateOptions } from '../runs.ts'

/** The events that were sent. */
export interface InboxStore {
  /** Stores an event, unless there is one with its dedupe key (N3). */
  putEvent(event: NewEvent, options?: CreateOptions): Promise<PutEventOutcome>
  /** The events that were not delivered, the oldest first. */
  findEvents(query: EventQuery): Promise<InboxEvent[]>
  /** Turns an event into its runs, all or none, as the leader (N1, N2). Their input is the data of the event, unchecked. */
  deliverEvent(delivery: Delivery): Promise<DeliveryOutcome>
  /** Removes events that were delivered longer ago than dedupe keys are kept, at most so many; returns how many. */
  forgetEvents(limit: number): Promise<number>
}

/** An event that is to be stored. */
export interface NewEvent {
  /** Its id, chosen by the caller. */
  id: string
  /** Its name. */
  name: string
  /** Its data, encoded. */
  data: string | null
  /** A second event with this key is not stored; null without one. */
  dedupeKey: string | null
}

/** What became of `putEvent`: it is stored, now or because it was sent before, or the event with its key was `known`. */
export interface PutEventOutcome {
  /** Whether this event is stored. */
  outcome: 'stored' | 'known'
  /** The id of the event that is stored. */
  id: string
}

/** Which events are wanted. */
export interface EventQuery {
  /** How many at most. */
  limit: number
}

/** An event that was not delivered. */
export interface InboxEvent {
  /** Its id. */
  id: string
  /** Its name. */
  name: string
  /** Its data, encoded. */
  data: string | null
}

/** A run that an event becomes. */
export interface EventRun {
  /** The id of the run. */
  id: string
  /** The name of its job. */
  jobName: string
  /** The event's own key, so that a job has at most one run of it. */
  idempotencyKey: string
  /** When it was triggered, as ISO-8601 text. */
  createdAt: string
}

/** An event and the runs that it becomes. */
export interface Delivery {
  /** The epoch of the leader. */
  epoch: number
  /** The id of the event. */
  eventId: string
  /** The runs; none if no job subscribes to it. */
  runs: readonly EventRun[]
}

/**
 * What became of `deliverEvent`. `delivered`: now, or because it was sent before. `deposed`: another process leads. `changed`: it was
 * delivered by somebody else, or does not exist.
 */
export type DeliveryOutcome =
  | {
      outcome: 'delivered'
      /** The runs of the request that exist, in its order. */
      runs: RunRow[]
    }
  | { outcome: 'deposed' | 'changed' }
