// `@coji/durably/sqlite` — SQLite on Node, Bun and Deno without further configuration.
import { type Dialect, type Driver, SqliteDialect } from 'kysely'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { PlacedDialect } from '../store/placed-dialect.ts'
import { NodeSqliteDriver } from './node-driver.ts'
import { openDatabase } from './open-database.ts'
import { type CachingDatabase, cachingDatabase } from './statement-cache.ts'

export { keepStatements } from './keep-statements.ts'

/** The options of `sqlite`. */
export interface SqliteOptions {
  /**
   * `full`: what was acknowledged survives a power cut. `relaxed`: it survives a crash of the process, but a power cut may lose the last
   * commits; it is faster. Default `full`.
   */
  durability?: 'full' | 'relaxed'
  /**
   * How long a statement may block this process while another process writes, in milliseconds, from 1 to 250; after that Durably waits
   * without blocking. Default 50.
   */
  busyTimeoutMs?: number
}

const SQLITE_OPTIONS: KeysOf<SqliteOptions> = { durability: 1, busyTimeoutMs: 1 }

/** A longer timeout would block the event loop, and with it the heartbeats of every run. */
export const BUSY_TIMEOUT_MS_MAX = 250
const BUSY_TIMEOUT_MS = 50

/**
 * A Kysely dialect for a SQLite file, or for `:memory:`. The file is opened at first use.
 *
 * @example const durably = createDurably({ dialect: sqlite('durably.db') })
 */
export function sqlite(path: string, options: SqliteOptions = {}): Dialect {
  checkKeys('sqlite', options, SQLITE_OPTIONS, 'invalid_config')
  const { durability = 'full', busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  if (typeof path !== 'string' || path === '') throw invalid(`sqlite() needs the path of a file or ":memory:", got ${JSON.stringify(path)}`)
  if (durability !== 'full' && durability !== 'relaxed')
    throw invalid(`durability must be "full" or "relaxed", got ${JSON.stringify(durability)}`)
  if (!Number.isInteger(busyTimeoutMs) || busyTimeoutMs < 1 || busyTimeoutMs > BUSY_TIMEOUT_MS_MAX) {
    throw invalid(`busyTimeoutMs must be an integer from 1 to ${BUSY_TIMEOUT_MS_MAX}, got ${busyTimeoutMs}`)
  }
  const synchronous = durability === 'full' ? 'FULL' : 'NORMAL'
  const database = async () => cachingDatabase(await openDatabase(path, { synchronous, busyTimeoutMs }))
  return new NodeSqliteDialect(database, `sqlite ${path}`)
}

class NodeSqliteDialect extends SqliteDialect implements PlacedDialect {
  readonly place: string
  /** A statement that failed on a lock is reset at once (verified on Node 20, 22, 24, Bun and Deno), so nothing has to be cleaned up. */
  readonly resetsStatements = true

  readonly #open: () => Promise<CachingDatabase>

  constructor(open: () => Promise<CachingDatabase>, place: string) {
    super({ database: open })
    this.#open = open
    this.place = place
  }

  override createDriver(): Driver {
    return new NodeSqliteDriver(this.#open)
  }
}

function invalid(message: string): DurablyError {
  return new DurablyError('invalid_config', message)
}
