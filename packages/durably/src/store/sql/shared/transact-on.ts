import type { CompiledQuery, DatabaseConnection, Transaction } from 'kysely'
import { boundKysely, EndedByItself } from './bound-kysely.ts'
import type { Row, TransactionPlace } from './session.ts'
import { begin, rollBack, TransactionFailed, wasOver } from './transaction.ts'

export interface BoundTransaction {
  readonly db: Transaction<unknown>
  run(query: CompiledQuery): Promise<Row[]>
  /** From here on `db` refuses; `run` does not. Rejects when the transaction has ended by itself. */
  seal(): Promise<void>
}

/** Runs `work` inside a transaction, each statement of which may take `statementMs`. An error of its begin is passed on as it is; every later one becomes `TransactionFailed`. */
export async function transactOn<T>(
  { connection, dialect, words }: TransactionPlace,
  statementMs: number | undefined,
  work: (trx: BoundTransaction) => Promise<T>,
): Promise<T> {
  await begin(connection, words)
  const bound = boundKysely(dialect, connection, words.script, words.watch?.probe)
  try {
    if (words.watch) await connection.executeQuery(words.watch.begin)
    if (words.limit && statementMs !== undefined) await connection.executeQuery(words.limit(statementMs))
    const run = async (query: CompiledQuery) => (await connection.executeQuery<Row>(query)).rows
    const seal = async () => {
      bound.end()
      if (words.watch) await endWatch(connection, words.watch.end)
    }
    const result = await work({ db: bound.db, run, seal })
    bound.end()
    await connection.executeQuery(words.commit)
    return result
  } catch (error) {
    bound.end()
    const undoing = await rollBack(connection, words)
    // The user's own error, after SQLite has undone everything by itself: it is not the database's to try again.
    const isOver = wasOver(undoing) && !bound.hasThrown(error)
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
