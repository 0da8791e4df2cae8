// Notifier — notifies other processes that there is something new to read.
//   N1. A notification only wakes: what it says is read from the store again, so one that is lost, late or doubled is harmless.
//   N2. No write waits for a notification, and `notify` never throws: without notifications, polling finds everything.
import type { Env } from '../model/env.ts'

/** What one process reports to the others: that there may be something new to read. */
export type Change =
  /** A run may have become claimable. */
  | { type: 'work' }
  /** The event log of a run has grown. `isHeld`: its owner goes on, so it has not ended. Other processes are not told that. */
  | { type: 'events'; runId: string; isHeld?: boolean }
  /** The owner of a run is asked to stop. */
  | { type: 'cancel'; runId: string }
  /** Anything may have changed: notifications were lost, or there were too many to name. */
  | { type: 'anything' }

/**
 * Notifies other processes that something has changed. A notification only wakes them: they read the store, so one that is lost, late or
 * doubled does no harm.
 */
export interface Notifier {
  /** Sends a notification, at some time soon. It never throws. */
  notify(change: Change): void
  /** Sends what has not been sent yet, as far as that is possible soon: the process may be about to end. */
  flush(): Promise<void>
  /** Stops sending and receiving. */
  close(): Promise<void>
}

/** What a dialect gets to open its `Notifier`. */
export interface NotifierDeps {
  /** The source of time and timers. */
  env: Env
  /** The same text in all processes that share the tables. */
  channel: string
  /** Called with each notification of another process; not with those of this one. */
  onChange: (change: Change) => void
  /** Called with the reason when there are no notifications, once per outage. */
  report: (error: unknown) => void
}

/** A dialect whose database can carry notifications. */
export interface NotifyingDialect {
  /** Opens the notifier of this database. */
  openNotifier(deps: NotifierDeps): Notifier
}
