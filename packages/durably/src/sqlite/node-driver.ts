// NodeSqliteDriver — Kysely's driver for SQLite, which can also run a whole transaction without a promise between its statements.
//   N1. `executeNow` touches the connection only if nobody has it and nobody waits for it. It returns before anybody else can ask for it.
import { type CompiledQuery, type DatabaseConnection, type SqliteDatabase, SqliteDriver } from 'kysely'
import type { Row } from '../store/sql/shared/session.ts'
import type { SynchronousDriver } from '../store/sql/sqlite/transport/synchronous-driver.ts'

export class NodeSqliteDriver extends SqliteDriver implements SynchronousDriver {
  readonly #opened: { database?: SqliteDatabase }
  /** How many have the connection or wait for it. */
  #callers = 0

  constructor(open: () => Promise<SqliteDatabase>) {
    const opened: { database?: SqliteDatabase } = {}
    super({
      async database() {
        opened.database = await open()
        return opened.database
      },
    })
    this.#opened = opened
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#callers++
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    this.#callers--
    await super.releaseConnection()
  }

  override async destroy(): Promise<void> {
    delete this.#opened.database
    await super.destroy()
  }

  executeNow(queries: readonly CompiledQuery[]): Row[][] | undefined {
    const { database } = this.#opened
    if (!database || this.#callers > 0) return undefined
    const [first, ...others] = queries
    return first && others.length === 0 ? [rowsOf(database, first.sql, first.parameters)] : transact(database, queries)
  }
}

/** As `writeOn` does over a connection. */
function transact(database: SqliteDatabase, queries: readonly CompiledQuery[]): Row[][] {
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

function rollBack(database: SqliteDatabase): void {
  try {
    rowsOf(database, 'rollback')
  } catch {
    // After a full disk or an I/O error SQLite has rolled back by itself already. The error that led here is the one to report.
  }
}

function rowsOf(database: SqliteDatabase, sql: string, parameters: readonly unknown[] = []): Row[] {
  const statement = database.prepare(sql)
  if (statement.reader) return statement.all(parameters) as Row[]
  statement.run(parameters)
  return []
}
