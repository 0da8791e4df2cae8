import { openSql, type SqlStore, type SqlStoreOptions, storeKind } from './open-sql.ts'
import { postgresStore } from './postgres/store.ts'
import { sqliteStore } from './sqlite/store.ts'
import { foreignSqliteStore } from './sqlite/transport/foreign-transport.ts'
import { sqlocalStore } from './sqlite/transport/sqlocal-transport.ts'

export type { SqlStore, SqlStoreOptions }

const OPEN = { sqlite: sqliteStore, sqlocal: sqlocalStore, foreignSqlite: foreignSqliteStore, postgres: postgresStore }

/** A store in an SQL database, with all code loaded at once, for tests; `createDurably` uses `lazySqlStore`. */
export function sqlStore(options: SqlStoreOptions): SqlStore {
  const opened = openSql(options)
  return OPEN[storeKind(opened)](opened)
}
