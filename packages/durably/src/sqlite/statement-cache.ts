// cachingDatabase — the database that Kysely's SqliteDialect asks for, on top of node:sqlite. Its statements are kept (keep-statements.ts).
//   F1. A write is acknowledged only if the file is still there: that is checked after each statement outside of a transaction, and
//       after the one that ends a transaction. What is streamed is not checked: Kysely streams only what it reads.
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { saysNoTransaction } from '../store/sql/shared/transaction.ts'
import { type Bindable, checkedParameters } from '../store/sql/sqlite/parameters.ts'
import type { DatabaseSync, StatementSync } from './database-sync.ts'
import { keepStatements } from './keep-statements.ts'
import { sameFileCheck } from './same-file.ts'

export interface CachingDatabase extends SqliteDatabase {
  /** Whether a transaction is open on the connection. */
  readonly inTransaction: boolean
}

export function cachingDatabase(database: DatabaseSync): CachingDatabase {
  const checkFile = sameFileCheck(database)
  /** Whether a transaction is open. */
  let isOpen = false

  /** F1. `transactionWord`: what the statement does to a transaction, if it begins or ends one. */
  function checked<T>(transactionWord: string | undefined, execute: () => T): T {
    try {
      const result = execute()
      if (transactionWord) isOpen = transactionWord === 'begin'
      if (!isOpen) checkFile()
      return result
    } catch (error) {
      // SQLite has rolled back by itself, for example because the disk was full.
      if (saysNoTransaction(error)) isOpen = false
      throw error
    }
  }

  const inTransaction = () => database.isTransaction ?? isOpen
  const kept = keepStatements({
    prepare: (sql) => adapt(database, sql, checked),
    close() {
      // While statements are prepared, SQLite closes only when they are garbage collected, and an open transaction keeps its lock until then.
      if (inTransaction()) undo(database)
      database.close()
    },
  })
  return {
    get inTransaction() {
      return inTransaction()
    },
    prepare: kept.prepare,
    close: kept.close,
  }
}

function undo(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The transaction had ended by itself.
  }
}

function adapt(
  database: DatabaseSync,
  sql: string,
  checked: <T>(transactionWord: string | undefined, execute: () => T) => T,
): SqliteStatement {
  const statement = database.prepare(sql)
  const transactionWord = TRANSACTION_WORD.exec(sql)?.[1]?.toLowerCase()
  return {
    reader: returnsRows(statement, sql),
    all: (parameters) => checked(transactionWord, () => statement.all(...checkedParameters(parameters))),
    run: (parameters) => checked(transactionWord, () => statement.run(...checkedParameters(parameters))),
    iterate: (parameters) => statement.iterate(...(checkedParameters(parameters) as Bindable[])),
  }
}

/** What begins or ends a transaction of SQLite, at the start of one statement. A rollback to a savepoint does not end the transaction. */
const TRANSACTION_WORD = /^\s*(begin|commit|end|rollback(?!\s+to\b|\s+transaction\s+to\b))\b/i

function returnsRows(statement: StatementSync, sql: string): boolean {
  return statement.columns ? statement.columns().length > 0 : /^\s*(select|with|values|pragma|explain)\b|\breturning\b/i.test(sql)
}
