import { lateStore } from '../lazy-store.ts'
import { openSql, type SqlStore, type SqlStoreOptions, storeKind } from './open-sql.ts'
import { isLed } from './shared/leading.ts'

const STORES = {
  sqlite: async () => (await import('./sqlite/store.ts')).sqliteStore,
  foreignSqlite: async () => (await import('./sqlite/foreign-sqlite-store.ts')).foreignSqliteStore,
  sqlocal: async () => (await import('./sqlite/sqlocal-store.ts')).sqlocalStore,
  postgres: async () => (await import('./postgres/store.ts')).postgresStore,
}

/** What is wrong with the dialect or the prefix is said at once; the rest is loaded with the first verb. */
export function lateSqlStore(options: SqlStoreOptions): SqlStore {
  const opened = openSql(options)
  const { db, env, eventLog } = opened
  async function load(): Promise<SqlStore> {
    const open = await STORES[storeKind(opened)]()
    return open(opened)
  }
  return { db, ...lateStore({ env, eventLog, isLed: isLed(opened), load }) }
}
