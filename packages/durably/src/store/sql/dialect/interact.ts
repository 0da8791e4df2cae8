import type { CompiledQuery, DatabaseConnection, Dialect } from 'kysely'
import type { BoundTransaction, Row } from '../session.ts'
import { boundKysely } from './bound-kysely.ts'

interface Words {
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

/** A transaction with code of the user in it. Rejects as it is when it could not begin. */
export async function interact<T>(
  connection: DatabaseConnection,
  dialect: Dialect,
  words: Words,
  work: (trx: BoundTransaction) => Promise<T>,
): Promise<T> {
  await connection.executeQuery(words.begin)
  const bound = boundKysely(dialect, connection)
  try {
    const run = async (query: CompiledQuery) => (await connection.executeQuery<Row>(query)).rows
    const result = await work({ db: bound.db, run, seal: bound.end })
    bound.end()
    await connection.executeQuery(words.commit)
    return result
  } catch (error) {
    bound.end()
    throw new TransactionFailed(error, await isRolledBack(connection, words.rollback))
  }
}

async function isRolledBack(connection: DatabaseConnection, rollback: CompiledQuery): Promise<boolean> {
  try {
    await connection.executeQuery(rollback)
    return true
  } catch {
    return false
  }
}
