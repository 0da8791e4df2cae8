// Transactions on one connection: of statements that are known, and around code of the user.
import type { CompiledQuery, DatabaseConnection, Dialect } from 'kysely'
import type { BoundTransaction, Row } from '../session.ts'
import { boundKysely } from './bound-kysely.ts'

/** How a database spells them. */
export interface TransactionWords {
  begin: CompiledQuery
  commit: CompiledQuery
  rollback: CompiledQuery
}

/** What became of the transaction when `work` did not get through. */
export class TransactionFailed extends Error {
  /** `work` threw, and everything was undone; otherwise nobody knows. */
  readonly isUndone: boolean
  constructor(cause: unknown, isUndone: boolean) {
    super('the transaction failed', { cause })
    this.isUndone = isUndone
  }
}

/** The rows that each statement returned. */
export async function transact(
  connection: DatabaseConnection,
  words: TransactionWords,
  queries: readonly CompiledQuery[],
): Promise<Row[][]> {
  await begin(connection, words)
  try {
    const results: Row[][] = []
    for (const query of queries) results.push((await connection.executeQuery<Row>(query)).rows)
    await connection.executeQuery(words.commit)
    return results
  } catch (error) {
    await isRolledBack(connection, words)
    throw error
  }
}

/** With code of the user in it. Rejects as it is when it could not begin. */
export async function interact<T>(
  connection: DatabaseConnection,
  dialect: Dialect,
  words: TransactionWords,
  work: (trx: BoundTransaction) => Promise<T>,
): Promise<T> {
  await begin(connection, words)
  const bound = boundKysely(dialect, connection)
  try {
    const run = async (query: CompiledQuery) => (await connection.executeQuery<Row>(query)).rows
    const result = await work({ db: bound.db, run, seal: bound.end })
    bound.end()
    await connection.executeQuery(words.commit)
    return result
  } catch (error) {
    bound.end()
    throw new TransactionFailed(error, await isRolledBack(connection, words))
  }
}

async function begin(connection: DatabaseConnection, words: TransactionWords): Promise<void> {
  try {
    await connection.executeQuery(words.begin)
  } catch (error) {
    if (!String(error).includes('within a transaction')) throw error
    // SQLite: a rollback that failed has left its transaction open, and nobody else shares this connection.
    await connection.executeQuery(words.rollback)
    await connection.executeQuery(words.begin)
  }
}

/** A lost connection, a full disk or an I/O error has rolled back by itself; the first error is the one to tell. */
async function isRolledBack(connection: DatabaseConnection, { rollback }: TransactionWords): Promise<boolean> {
  try {
    await connection.executeQuery(rollback)
    return true
  } catch {
    return false
  }
}
