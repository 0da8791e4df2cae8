import type { CompiledQuery, DatabaseConnection, Transaction } from 'kysely'
import { boundKysely, EndedByItself } from './bound-kysely.ts'
import type { ReservedConnection, Row } from './session.ts'
import { begin, rollBack, saysNoTransaction, TransactionFailed } from './transaction.ts'

export interface BoundTransaction {
  readonly db: Transaction<unknown>
  run(query: CompiledQuery): Promise<Row[]>
  /** From here on `db` refuses; `run` does not. Rejects when the transaction has ended by itself. */
  seal(): Promise<void>
}

/** Runs `work` inside a transaction, each statement of which may take `statementMs`. An error of its begin is passed on as it is; every later one becomes `TransactionFailed`. */
export async function transactOn<T>(
  { connection, dialect, statements }: ReservedConnection,
  statementMs: number | undefined,
  work: (trx: BoundTransaction) => Promise<T>,
): Promise<T> {
  await begin(connection, statements)
  const bound = boundKysely(dialect, connection, statements.script, statements.watch?.probe)
  try {
    if (statements.watch) await connection.executeQuery(statements.watch.begin)
    if (statements.limit && statementMs !== undefined) await connection.executeQuery(statements.limit(statementMs))
    const run = async (query: CompiledQuery) => (await connection.executeQuery<Row>(query)).rows
    const seal = async () => {
      bound.end()
      if (statements.watch) await endWatch(connection, statements.watch.end)
    }
    const result = await work({ db: bound.db, run, seal })
    bound.end()
    await connection.executeQuery(statements.commit)
    return result
  } catch (error) {
    bound.end()
    const undoing = await rollBack(connection, statements)
    // The user's own error, after SQLite has undone everything by itself: it is not the database's to try again.
    const isOver = saysNoTransaction(undoing) && !bound.hasThrown(error)
    throw new TransactionFailed(error, undoing === undefined || isOver || error instanceof EndedByItself)
  }
}

async function endWatch(connection: DatabaseConnection, end: CompiledQuery): Promise<void> {
  try {
    await connection.executeQuery(end)
  } catch (error) {
    throw String(error).includes('no such savepoint') ? new EndedByItself(error) : error
  }
}
