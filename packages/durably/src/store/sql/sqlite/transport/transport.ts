import type { CompiledQuery } from 'kysely'
import type { ReservedConnection, Row } from '../../shared/session.ts'

/** How statements get to a driver of SQLite, one call at a time; rejects with the driver's own errors. */
export interface Transport {
  /** Where the driver is synchronous: see `SynchronousDriver`. Throws the driver's own errors. */
  executeNow?(queries: readonly CompiledQuery[]): Row[][] | undefined
  /** One statement, which is a transaction of its own. */
  run(query: CompiledQuery): Promise<Row[]>
  /** All statements in one transaction that holds the write lock from its start. */
  write(queries: readonly CompiledQuery[]): Promise<Row[][]>
  /** Commits an empty transaction, which takes no lock. That fails while an earlier statement is still open, so it shows whether the connection can be used. */
  probe(): Promise<void>
  /** A transaction around a function of the user. */
  transact<T>(work: (reserved: ReservedConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}
