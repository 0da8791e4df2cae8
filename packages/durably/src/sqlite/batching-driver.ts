// BatchingDriver — Kysely's driver for SQLite, whose connection also runs a whole transaction without giving up its turn of the event loop.
import { type CompiledQuery, type DatabaseConnection, type SqliteDatabase, SqliteDriver } from 'kysely'
import type { BatchingConnection } from '../store/sql/shared/batching-connection.ts'
import type { Row } from '../store/sql/shared/session.ts'

export class BatchingDriver extends SqliteDriver {
  constructor(open: () => Promise<SqliteDatabase>) {
    let database: SqliteDatabase
    super({
      async database() {
        database = await open()
        return database
      },
      async onCreateConnection(connection: DatabaseConnection & Partial<BatchingConnection>) {
        connection.writeBatch = async (queries) => writeBatch(database, queries)
      },
    })
  }
}

function writeBatch(database: SqliteDatabase, queries: readonly CompiledQuery[]): Row[][] {
  begin(database)
  try {
    const results = queries.map(({ sql, parameters }) => rowsOf(database, sql, parameters))
    rowsOf(database, 'commit')
    return results
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function begin(database: SqliteDatabase): void {
  try {
    rowsOf(database, 'begin immediate')
  } catch (error) {
    if (!String(error).includes('within a transaction')) throw error
    // A rollback that failed has left its transaction open, and nobody else shares this connection.
    rowsOf(database, 'rollback')
    rowsOf(database, 'begin immediate')
  }
}

/** After a full disk or an I/O error SQLite has rolled back by itself already. */
function rollBack(database: SqliteDatabase): void {
  try {
    rowsOf(database, 'rollback')
  } catch {
    // The error that led here is the one to report.
  }
}

function rowsOf(database: SqliteDatabase, sql: string, parameters: readonly unknown[] = []): Row[] {
  const statement = database.prepare(sql)
  if (statement.reader) return statement.all(parameters) as Row[]
  statement.run(parameters)
  return []
}
