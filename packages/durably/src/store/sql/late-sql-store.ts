import { DurablyError } from '../../model/errors.ts'
import { lateStore } from '../late-store.ts'
import { isLed } from './dialect/leading.ts'
import { openSql, type SqlStore, type SqlStoreOptions, storeKind } from './opened-sql.ts'

const STORES = {
  sqlite: async () => (await import('./sqlite-store.ts')).sqliteStore,
  sqlocal: async () => (await import('./sqlocal-store.ts')).sqlocalStore,
  postgres: async () => (await import('./postgres-store.ts')).postgresStore,
}

/** What is wrong with the dialect or the prefix is said at once; the rest is loaded with the first verb. */
export function lateSqlStore(options: SqlStoreOptions): SqlStore {
  const opened = openSql(options)
  const { db, env, eventLog } = opened
  async function load(): Promise<SqlStore> {
    const open = await STORES[storeKind(opened)]().catch(notLoaded)
    return open(opened)
  }
  return { db, ...lateStore({ env, eventLog, isLed: isLed(opened), load }) }
}

/** Like a database that is away. */
function notLoaded(cause: unknown): never {
  throw new DurablyError('store_unavailable', 'the code of the store could not be loaded; the next call tries again', { cause })
}
