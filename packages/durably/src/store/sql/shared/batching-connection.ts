import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { Row } from './session.ts'

/** A connection over which a whole transaction is one message. */
export interface BatchingConnection extends DatabaseConnection {
  /** The rows that each statement returned; the write lock is held from the start. */
  writeBatch(queries: readonly CompiledQuery[]): Promise<Row[][]>
}

export function isBatchingConnection(connection: DatabaseConnection): connection is BatchingConnection {
  return 'writeBatch' in connection
}
