import { lazyStore } from '../lazy-store.ts'
import { openSql, type SqlStore, type SqlStoreOptions, storeKind } from './open-sql.ts'
import { isLed } from './shared/leading.ts'

/** A bundler makes a chunk of each of these files and what it alone imports: a page loads only what its dialect needs (ADR 0009). */
const LOAD = {
  sqlite: async () => (await import('./sqlite/store.ts')).sqliteStore,
  sqlocal: async () => (await import('./sqlite/transport/sqlocal-transport.ts')).sqlocalStore,
  foreignSqlite: async () => (await import('./sqlite/transport/foreign-transport.ts')).foreignSqliteStore,
  postgres: async () => (await import('./postgres/store.ts')).postgresStore,
}

/** A wrong dialect or table prefix is an error at once; the code of the store is loaded with the first operation. */
export function lazySqlStore(options: SqlStoreOptions): SqlStore {
  const opened = openSql(options)
  const { db, env, eventLog } = opened
  async function load(): Promise<SqlStore> {
    const open = await LOAD[storeKind(opened)]()
    return open(opened)
  }
  return { db, ...lazyStore({ env, eventLog, isLed: isLed(opened), load }) }
}
