import { openSql, type SqlStore, type SqlStoreOptions, storeKind } from './open-sql.ts'
import { postgresStore } from './postgres/store.ts'
import { foreignSqliteStore } from './sqlite/foreign-sqlite-store.ts'
import { sqlocalStore } from './sqlite/sqlocal-store.ts'
import { sqliteStore } from './sqlite/store.ts'

export type { SqlStore, SqlStoreOptions }

const STORES = { sqlite: sqliteStore, foreignSqlite: foreignSqliteStore, sqlocal: sqlocalStore, postgres: postgresStore }

/** A store in an SQL database, whichever it is; `createDurably` loads only the one that its dialect needs. */
export function sqlStore(options: SqlStoreOptions): SqlStore {
  const opened = openSql(options)
  return STORES[storeKind(opened)](opened)
}
