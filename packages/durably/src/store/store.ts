// Store — where runs are kept. The port in chapters; `memory/` and `sql/` implement it under the same file names.
//   S1. Each verb is one transaction, and there is no other way to change a row: no `update(partial)`.
//   S2. A verb resolves with what happened; a refusal is a value. A rejection means the outcome is unknown.
//   S3. Every verb may be sent again after an unknown outcome: ids, claim tokens and write numbers are the caller's.
//   S4. Time that decides is the store's: no caller passes `now`.
//   S5. A move and its event are written together, `seq` under the run's lock.
import type { EventStore } from './events.ts'
import type { OpenLeadership } from './leadership.ts'
import type { LogStore } from './logs.ts'
import type { OwnerWrite, WriteOutcome } from './owner-write.ts'
import type { RunStore } from './runs.ts'
import type { SignalStore } from './signals.ts'
import type { StepStore } from './steps.ts'

/**
 * `undone`: `body` threw this, nothing was written. `inConflict`: it is how the database ended a conflict with another transaction,
 * and `body` may get through if it is run again. A rejection means that the outcome is unknown (S2).
 */
export type TransactOutcome = WriteOutcome | { undone: unknown; inConflict: boolean }

export interface Store {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly events: EventStore
  readonly logs: LogStore
  readonly signals: SignalStore
  /** False when events are counted but not kept. */
  readonly eventLog: boolean
  /** False when nobody will read the stack of an error, so that none is written. Default true. */
  readonly errorStacks?: boolean
  /**
   * Runs `body` inside a transaction of the database, and applies the write that it returns in the same one: both take
   * effect or neither. A refused write undoes everything. Absent where there is no database.
   */
  readonly transact?: (body: (trx: unknown) => Promise<OwnerWrite>) => Promise<TransactOutcome>
  /** Says which of several instances executes. Absent where every one of them may. */
  readonly openLeadership?: OpenLeadership
  /** Brings the schema up to date; idempotent, safe when several processes call it at once. */
  migrate(): Promise<void>
  close(): Promise<void>
}
