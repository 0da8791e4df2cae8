// Every way a user can hand us SQLite. Each driver links a SQLite of its own, and two of them must not open one file
// in one process: POSIX locks belong to the process, so they would not see each other.
import { createRequire } from 'node:module'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { type Dialect, SqliteDialect } from 'kysely'
import LibsqlDatabase from 'libsql'
import { sqlite } from '../../src/sqlite/index.ts'

export interface SqliteDriver {
  name: string
  /** Why it cannot be tested here; null when it can. */
  missing: string | null
  dialect(file: string): Dialect
}

const require = createRequire(import.meta.url)

const ALL: readonly SqliteDriver[] = [
  { name: 'sqlite()', missing: null, dialect: (file) => sqlite(file) },
  {
    name: 'libsql through SqliteDialect',
    missing: null,
    dialect: (file) => new SqliteDialect({ database: async () => new LibsqlDatabase(file) }),
  },
  { name: 'LibsqlDialect', missing: null, dialect: (file) => new LibsqlDialect({ url: `file:${file}` }) },
  betterSqlite3(),
]

/** Those that are installed, for tests that need no reason to leave one out. */
export const DRIVERS = ALL.filter(({ missing }) => missing === null)
export const MISSING = ALL.filter(({ missing }) => missing !== null)

function betterSqlite3(): SqliteDriver {
  const name = 'better-sqlite3 through SqliteDialect'
  try {
    const Database = require('better-sqlite3')
    return { name, missing: null, dialect: (file) => new SqliteDialect({ database: async () => new Database(file) }) }
  } catch {
    return { name, missing: 'better-sqlite3 is not installed', dialect: () => ({}) as Dialect }
  }
}
