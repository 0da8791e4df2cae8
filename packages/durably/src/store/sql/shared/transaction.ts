// Transactions on one connection. On every level `write` is a batch of known statements in one transaction, and `transact` is a
// transaction around a function of the user (`ctx.transaction`).
import type { CompiledQuery, DatabaseConnection } from 'kysely'
import type { Row } from './session.ts'
import type { Script } from './transaction-word.ts'

/** The statements that begin and end a transaction of this database. */
export interface TransactionStatements {
  begin: CompiledQuery
  commit: CompiledQuery
  rollback: CompiledQuery
  /** How to find such statements in a text of the user's. */
  script: Script
  /** Ends each later statement of the transaction after so many milliseconds; for a database in which one may wait for a lock of others. */
  limit?: (statementMs: number) => CompiledQuery
  /** Called when a rollback failed: its transaction may still be open. For a database with a connection that is not thrown away then. */
  onFailedRollback?: () => void
  /** For a database that ends a transaction by itself and then goes on without one: SQLite, when the disk is full. */
  watch?: {
    begin: CompiledQuery
    /** Fails when the transaction is not the one that was begun. */
    end: CompiledQuery
    /** Passes only outside of a transaction. What it begins is empty, and undone with the rest. */
    probe: CompiledQuery
  }
}

/** The transaction around `work` has failed. */
export class TransactionFailed extends Error {
  /** True if `work` threw and everything was rolled back. False if it is unknown whether the transaction was committed. */
  readonly isUndone: boolean
  constructor(cause: unknown, isUndone: boolean) {
    super('the transaction failed', { cause })
    this.isUndone = isUndone
  }
}

/** Returns the rows that each statement returned. */
export async function writeOn(
  connection: DatabaseConnection,
  statements: TransactionStatements,
  queries: readonly CompiledQuery[],
): Promise<Row[][]> {
  await begin(connection, statements)
  try {
    const results: Row[][] = []
    for (const query of queries) results.push((await connection.executeQuery<Row>(query)).rows)
    await connection.executeQuery(statements.commit)
    return results
  } catch (error) {
    await rollBack(connection, statements)
    throw error
  }
}

export async function begin(connection: DatabaseConnection, statements: TransactionStatements): Promise<void> {
  try {
    await connection.executeQuery(statements.begin)
  } catch (error) {
    if (!String(error).includes('within a transaction')) throw error
    // SQLite: whoever used the connection before us has left a transaction open, and nobody shares it with us.
    await connection.executeQuery(statements.rollback)
    await connection.executeQuery(statements.begin)
  }
}

/** Returns its own error instead of throwing it: after a lost connection, a full disk or an I/O error the database has rolled back by itself already. */
export async function rollBack(connection: DatabaseConnection, { rollback, onFailedRollback }: TransactionStatements): Promise<unknown> {
  try {
    await connection.executeQuery(rollback)
  } catch (error) {
    if (!saysNoTransaction(error)) onFailedRollback?.()
    return error
  }
}

/** Rolls back what a rollback that failed may have left open. */
export async function rollBackAgain(connection: DatabaseConnection, { rollback }: TransactionStatements): Promise<void> {
  try {
    await connection.executeQuery(rollback)
  } catch (error) {
    if (!saysNoTransaction(error)) throw error
  }
}

/** Whether this is SQLite's answer to a COMMIT or ROLLBACK where no transaction is open, because it has ended the transaction by itself. */
export function saysNoTransaction(error: unknown): boolean {
  return String(error).includes('no transaction is active')
}
