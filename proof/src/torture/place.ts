// Place — where a torture happens: a database, the ways to it, and what befalls it besides the deaths of workers.
import type { SqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import type { Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import type { FaultName } from './faults.ts'
import type { StoreAddress } from './store-address.ts'

export interface PlaceOptions {
  leaseMs: number
  seconds: number
}

export interface Place {
  /** Steps last about as long; so a lease must be longer than what is usual here takes. */
  leaseMs: number
  /** How many runs a worker executes at once: as many as the machine can keep up with. */
  concurrency: number
  /** How often workers are struck, each time one of them. */
  strikesPerS: { kill: number; freeze: number; stop: number }
  /** How many workers may be frozen at once. */
  pausedMax: number
  /** How far the clock of a process may be off. Where each process goes by its own, it is this that leases and sleeps are off by. */
  clockRangeMs: number
  clockIsOurs: boolean
  /** The codes of errors that workers and clients may get here. */
  expectedTroubles: ReadonlySet<string>
  faults: readonly Fault[]
  /** How often each of them came to pass, by its name. */
  figures(): Record<string, number>
  /** For the next worker; it meets the faults. */
  address(): StoreAddress
  /** The store of clients that trigger; faults hit it, too. */
  client: SqlStore
  /** The store of the judge. As few faults as possible hit it. */
  store: SqlStore
  /** All reads of `look` see the database as it was at the first of them. */
  atOneMoment<T>(look: (store: SqlStore) => Promise<T>): Promise<T>
  /** What the database itself says of its files. */
  integrity(): Promise<Violation[]>
  /** No fault is under way any more, but what was lost stays lost. */
  calm(): void
  close(): Promise<void>
}

/** Happens again and again while the storm lasts. */
export interface Fault {
  name: FaultName
  waitMs(): number
  strike(): Promise<void>
}
