// Every way a user can hand us SQLite. Each driver links a SQLite of its own, and two of them must not open one file
// in one process: POSIX locks belong to the process, so they would not see each other.
import { createRequire } from 'node:module'
import { createClient } from '@libsql/client'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { type Dialect, type SqliteDatabase, SqliteDialect } from 'kysely'
import LibsqlDatabase from 'libsql'
import { keepStatements, sqlite } from '../../src/sqlite/index.ts'

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
  {
    name: 'libsql, statements kept',
    missing: null,
    dialect: (file) => new SqliteDialect({ database: async () => keepStatements(new LibsqlDatabase(file)) }),
  },
  { name: 'LibsqlDialect', missing: null, dialect: (file) => new LibsqlDialect({ url: `file:${file}` }) },
  betterSqlite3('better-sqlite3 through SqliteDialect', (database) => database),
  betterSqlite3('better-sqlite3, statements kept', keepStatements),
]

/** The same dialect, with a client of the user's own; it takes a connection per call, so a test cannot hold a lock through it. */
export const NEWER_CLIENT: SqliteDriver = {
  name: 'LibsqlDialect with a newer client',
  missing: null,
  // Its types want the client that it brings along, although any later one works.
  dialect: (file) => new LibsqlDialect({ client: createClient({ url: `file:${file}` }) as never }),
}

/** Those that are installed, for tests that need no reason to leave one out. */
export const DRIVERS = ALL.filter(({ missing }) => missing === null)
export const MISSING = ALL.filter(({ missing }) => missing !== null)

function betterSqlite3(name: string, wrap: (database: SqliteDatabase) => SqliteDatabase): SqliteDriver {
  try {
    const Database = require('better-sqlite3')
    return {
      name,
      missing: null,
      dialect: (file) => new SqliteDialect({ database: async () => wrap(new Database(file, { timeout: 250 })) }),
    }
  } catch {
    return { name, missing: 'better-sqlite3 is not installed', dialect: () => ({}) as Dialect }
  }
}
