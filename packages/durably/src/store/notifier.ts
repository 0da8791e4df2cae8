// Notifier — notifies other processes that there is something new to read.
//   N1. A notification only wakes: what it says is read from the store again, so one that is lost, late or doubled is harmless.
//   N2. No write waits for a notification, and `notify` never throws: without notifications, polling finds everything.
import type { Env } from '../model/env.ts'

export type Change =
  /** A run may have become claimable. */
  | { type: 'work' }
  /** The event log of a run has grown. */
  | { type: 'events'; runId: string }
  /** The owner of a run is asked to stop. */
  | { type: 'cancel'; runId: string }
  /** Anything may have changed: notifications were lost, or there were too many to name. */
  | { type: 'anything' }

export interface Notifier {
  notify(change: Change): void
  /** Sends the changes that were not sent yet, as far as that can be done soon: the process may be about to end. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface NotifierDeps {
  env: Env
  /** The same for all processes that share the tables. */
  channel: string
  /** Called for each change that another process sent; not for those of this process. */
  onChange: (change: Change) => void
  /** Called with the reason why there are no notifications, once per outage. */
  report: (error: unknown) => void
}

/** A dialect whose database can carry notifications. */
export interface NotifyingDialect {
  openNotifier(deps: NotifierDeps): Notifier
}
