// Store — where runs are kept. The port in chapters; `memory/` and `sql/` implement it under the same file names.
//   S1. Each operation is one transaction, and there is no other way to change a row: no `update(partial)`.
//   S2. An operation resolves with what happened; a refusal is a value. A rejection means the outcome is unknown.
//   S3. Every operation may be sent again after an unknown outcome: ids, claim tokens and write numbers are the caller's.
//   S4. Time that decides is the store's: no caller passes `now`.
//   S5. A move and its event are written together, `seq` under the run's lock.

import type { ArchiveStore } from './archive.ts'
import type { ClusterStore } from './cluster/cluster.ts'
import type { EventStore } from './events.ts'
import type { OpenLeadership } from './leadership.ts'
import type { LogStore } from './logs.ts'
import type { OwnerWrite, WriteOutcome } from './owner-write.ts'
import type { RunStore } from './runs.ts'
import type { SignalStore } from './signals.ts'
import type { StepStore } from './steps.ts'

/**
 * What became of `transact`. `undone`: `body` threw this, and nothing was written; `inConflict` says that the database ended a conflict
 * with another transaction in this way, so that `body` may succeed if it is run again.
 */
export type TransactOutcome = WriteOutcome | { undone: unknown; inConflict: boolean }

/**
 * Where runs are kept. Durably has stores in memory, on SQLite and on Postgres; the store contract in `@coji/durably/testing` tests one of
 * your own.
 */
export interface Store {
  /** The runs. */
  readonly runs: RunStore
  /** The recorded steps. */
  readonly steps: StepStore
  /** The event logs. */
  readonly events: EventStore
  /** The log lines. */
  readonly logs: LogStore
  /** The signals. */
  readonly signals: SignalStore
  /** Schedules, and which process performs them. Absent if the store has none; then `durably.schedule` rejects. */
  readonly cluster?: ClusterStore
  /** Takes histories out of the store that are in files. Absent if the store cannot. */
  readonly archive?: ArchiveStore
  /** False if events are counted but not kept. */
  readonly eventLog: boolean
  /** False if the stacks of errors are not to be stored. Default true. */
  readonly errorStacks?: boolean
  /**
   * Runs `body` inside a transaction of the database, and applies the write that it returns in the same transaction: both take effect or
   * neither. If the write is refused, everything is rolled back. Absent if there is no database. A statement that takes longer than
   * `statementMs`, for example because it waits for a lock, must be ended: nothing else can end the transaction meanwhile.
   */
  readonly transact?: (body: (trx: unknown) => Promise<OwnerWrite>, statementMs?: number) => Promise<TransactOutcome>
  /** Decides which of several instances executes. Absent if all of them may. */
  readonly openLeadership?: OpenLeadership
  /** Creates or updates the tables. It may be called again, and by several processes at once. */
  migrate(): Promise<void>
  /** Closes the connection to the database. */
  close(): Promise<void>
}
