// NodeSqliteDriver — Kysely's driver for SQLite, which can also run a whole transaction without a promise between its statements.
//   N1. `executeNow` touches the connection only if nobody has it and nobody waits for it. It returns before anybody else can ask for it.
import { type CompiledQuery, type DatabaseConnection, type SqliteDatabase, SqliteDriver } from 'kysely'
import type { Row } from '../store/sql/shared/session.ts'
import { saysNoTransaction } from '../store/sql/shared/transaction.ts'
import type { SynchronousDriver } from '../store/sql/sqlite/transport/synchronous-driver.ts'
import type { CachingDatabase } from './statement-cache.ts'

export class NodeSqliteDriver extends SqliteDriver implements SynchronousDriver {
  readonly #opened: { database?: CachingDatabase }
  /** How many callers have the connection or wait for it. */
  #callers = 0

  constructor(open: () => Promise<CachingDatabase>) {
    const opened: { database?: CachingDatabase } = {}
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

  get inTransaction(): boolean {
    return this.#opened.database?.inTransaction === true
  }

  executeNow(queries: readonly CompiledQuery[], onFailedRollback: () => void): Row[][] | undefined {
    const { database } = this.#opened
    if (!database || this.#callers > 0) return undefined
    const [first, ...others] = queries
    if (!first || others.length > 0) return write(database, queries, onFailedRollback)
    // A single statement would become part of a transaction that somebody has left open. A batch notices that when it begins.
    return database.inTransaction ? undefined : [rowsOf(database, first.sql, first.parameters)]
  }
}

/** Does what `writeOn` of store/sql/shared/transaction.ts does, without a promise. */
function write(database: SqliteDatabase, queries: readonly CompiledQuery[], onFailedRollback: () => void): Row[][] {
  begin(database)
  try {
    const results = queries.map(({ sql, parameters }) => rowsOf(database, sql, parameters))
    rowsOf(database, 'commit')
    return results
  } catch (error) {
    rollBack(database, onFailedRollback)
    throw error
  }
}

function begin(database: SqliteDatabase): void {
  try {
    rowsOf(database, 'begin immediate')
  } catch (error) {
    if (!String(error).includes('within a transaction')) throw error
    // Whoever used the connection before us has left a transaction open, and nobody shares it with us.
    rowsOf(database, 'rollback')
    rowsOf(database, 'begin immediate')
  }
}

/** The error that led here is the one to report. After a full disk or an I/O error SQLite has rolled back by itself already. */
function rollBack(database: SqliteDatabase, onFailedRollback: () => void): void {
  try {
    rowsOf(database, 'rollback')
  } catch (error) {
    if (!saysNoTransaction(error)) onFailedRollback()
  }
}

function rowsOf(database: SqliteDatabase, sql: string, parameters: readonly unknown[] = []): Row[] {
  const statement = database.prepare(sql)
  if (statement.reader) return statement.all(parameters) as Row[]
  statement.run(parameters)
  return []
}
