import type { CompiledQuery } from 'kysely'
import type { BoundTransaction, Row } from '../../shared/session.ts'

/** How statements get to the driver, one call at a time; rejects with the driver's own errors. */
export interface Transport {
  run(query: CompiledQuery): Promise<Row[]>
  /** All statements in one transaction that holds the write lock from its start. */
  transact(queries: readonly CompiledQuery[]): Promise<Row[][]>
  /** An empty transaction that takes no lock: it fails to commit while an earlier statement still runs. */
  transactNothing(): Promise<void>
  /** A transaction with code of the user in it. */
  interact<T>(work: (trx: BoundTransaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}
