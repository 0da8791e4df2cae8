// The database itself: sqlite-wasm on the VFS `opfs-sahpool`, in a dedicated worker. It needs neither COOP nor COEP.
//   - One connection has exclusive access to the files, so WAL works without shared memory, and a commit is one flush.
//   - Prepared statements are cached. Texts are read by their length, because a text may contain NUL.
import sqlite3InitModule, { type Database, type PreparedStatement, type Sqlite3Static } from '@sqlite.org/sqlite-wasm'
import { type Env, sleep } from '../model/env.ts'
import { LruMap } from '../model/lru-map.ts'
import type { Row } from '../store/sql/shared/session.ts'
import type { Result, Statement } from './protocol.ts'
import { checkWasmVersion } from './wasm-version.ts'

export interface WasmDatabase {
  run(statement: Statement): Result
  /** A transaction was begun and has not ended. */
  readonly inTransaction: boolean
  close(): void
}

/** Slots of the pool: the database, its WAL, and temporary files of a VACUUM or a large sort. */
const FILES = 6
/** The tab that had the files open before may still be shutting down. */
const HELD_MS_MAX = 10_000
const HELD_PAUSE_MS = 50
const STATEMENTS_MAX = 200

export interface OpenOptions {
  name: string
  synchronous: 'FULL' | 'NORMAL'
  env: Env
}

export async function openWasmDatabase({ name, synchronous, env }: OpenOptions): Promise<WasmDatabase> {
  const quota = new QuotaWatch()
  const sqlite3 = await sqlite3InitModule()
  checkWasmVersion(sqlite3.version)
  const directory = `durably-${encodeURIComponent(name)}`
  // The types of sqlite-wasm lack `forceReinitIfPreviouslyFailed`.
  const options = { name: directory, directory, initialCapacity: FILES, forceReinitIfPreviouslyFailed: true, verbosity: 1 }
  const pool = await whenFree(env, () => sqlite3.installOpfsSAHPoolVfs(options))
  const database = new pool.OpfsSAHPoolDb('/durably.db')
  database.exec(`PRAGMA locking_mode = exclusive; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
    PRAGMA foreign_keys = ON; PRAGMA temp_store = memory`)
  const statements = new KeptStatements(sqlite3, database)
  return {
    run(statement) {
      try {
        return statements.run(statement)
      } catch (error) {
        throw quota.explained(error)
      }
    },
    get inTransaction() {
      return sqlite3.capi.sqlite3_get_autocommit(database) === 0
    },
    close() {
      statements.close()
      database.close()
      pool.pauseVfs()
    },
  }
}

async function whenFree<T>(env: Env, open: () => Promise<T>): Promise<T> {
  const began = env.mono()
  for (;;) {
    try {
      return await open()
    } catch (error) {
      const isHeld = error instanceof DOMException && error.name === 'NoModificationAllowedError'
      if (!isHeld || env.mono() - began > HELD_MS_MAX) throw error
      await sleep(env, HELD_PAUSE_MS)
    }
  }
}

class KeptStatements {
  readonly #sqlite3: Sqlite3Static
  readonly #database: Database
  readonly #kept = new LruMap<string, PreparedStatement>(STATEMENTS_MAX, (statement) => statement.finalize())
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(sqlite3: Sqlite3Static, database: Database) {
    this.#sqlite3 = sqlite3
    this.#database = database
  }

  run({ sql, parameters }: Statement): Result {
    const statement = this.#prepared(sql)
    const rows: Row[] = []
    try {
      if (parameters.length > 0) statement.bind(parameters as unknown as (string | number)[])
      // The names are read after the first step: SQLite may have prepared the statement again, with other columns.
      for (let names: string[] | undefined; statement.step(); ) {
        names ??= statement.getColumnNames([])
        rows.push(this.#row(statement, names))
      }
    } finally {
      this.#letGo(statement)
    }
    const { capi } = this.#sqlite3
    const changes = statement.columnCount > 0 ? null : capi.sqlite3_changes(this.#database)
    return { rows, changes, lastInsertRowId: capi.sqlite3_last_insert_rowid(this.#database) }
  }

  close(): void {
    this.#kept.clear()
  }

  #prepared(sql: string): PreparedStatement {
    const kept = this.#kept.get(sql)
    if (kept) return kept
    const statement = this.#database.prepare(sql)
    this.#kept.set(sql, statement)
    return statement
  }

  #row(statement: PreparedStatement, names: readonly string[]): Row {
    return Object.fromEntries(names.map((name, column) => [name, this.#value(statement, column)]))
  }

  #value(statement: PreparedStatement, column: number): unknown {
    const { capi, wasm } = this.#sqlite3
    if (capi.sqlite3_column_type(statement, column) !== capi.SQLITE_TEXT) return statement.get(column)
    const start = Number(capi.sqlite3_column_blob(statement, column))
    const bytes = capi.sqlite3_column_bytes(statement, column)
    return this.#decoder.decode(wasm.heap8u().subarray(start, start + bytes))
  }

  #letGo(statement: PreparedStatement): void {
    try {
      statement.reset(true)
    } catch {
      // `reset` throws the error of `step` once more.
    }
  }
}

/** The VFS reports to SQLite only that a write failed, and logs the reason to the console. So this watches the log. */
class QuotaWatch {
  #exceeded = false

  constructor() {
    const error = (...said: unknown[]) => {
      if (said.some((one) => one instanceof DOMException && one.name === 'QuotaExceededError')) this.#exceeded = true
      else console.error(...said)
    }
    // The warning is about another VFS for OPFS, which needs COOP and COEP and is not used.
    const warn = (...said: unknown[]) => {
      if (!String(said[0]).includes('install OPFS sqlite3_vfs')) console.warn(...said)
    }
    Object.assign(globalThis, { sqlite3ApiConfig: { error, warn } })
  }

  explained(error: unknown): unknown {
    if (!this.#exceeded) return error
    this.#exceeded = false
    return new Error('SQLITE_FULL: the storage quota of this origin is exceeded', { cause: error })
  }
}
