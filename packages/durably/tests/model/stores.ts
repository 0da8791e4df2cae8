// The stores that the model is held against. Another one (Postgres, SQLite in Chromium) joins by an entry here.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Dialect } from 'kysely'
import { memoryStore } from '../../src/memory.ts'
import type { Env } from '../../src/model/env.ts'
import { postgres } from '../../src/postgres/index.ts'
import { sqlStore } from '../../src/store/sql/sql-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createDatabase } from '../postgres/place.ts'
import { DRIVERS } from '../sql/drivers.ts'
import { MEMORY_DIRECTORY } from '../sql/place.ts'

export interface StoreUnderTest {
  name: string
  /** Why it cannot be tested here; null when it can. */
  missing: string | null
  /** After how many verbs the rows are compared with the model's; 1 where reading is cheap. */
  lookEvery: number
  /** Of the sequences, how many it gets: fewer where another store has the same SQL, and only the driver is another. */
  share: number
  /** The wall clock of `env` is the store's. */
  open(env: Env): Promise<OpenStore>
}

export interface OpenStore {
  /** A migrated store without a run; what it was before is gone. */
  empty(): Promise<Store>
  close(): Promise<void>
}

export const STORES: readonly StoreUnderTest[] = [
  {
    name: 'memory',
    missing: null,
    lookEvery: 1,
    share: 1,
    open: async (env) => ({ empty: async () => memoryStore({ env }), close: async () => {} }),
  },
  // libsql prepares every statement anew, and that takes most of the time.
  ...DRIVERS.map(({ name, missing, dialect }) => {
    const cost = /libsql/i.test(name) ? { lookEvery: 5, share: 0.3 } : { lookEvery: 1, share: 1 }
    return { name, missing, ...cost, open: (env: Env) => openSqlite(dialect, env) }
  }),
  { name: 'postgres()', missing: null, lookEvery: 5, share: 1, open: openPostgres },
]

/** One database for all sequences: migrating takes longer than most of them. */
async function openSqlite(dialect: (file: string) => Dialect, env: Env): Promise<OpenStore> {
  const directory = mkdtempSync(join(MEMORY_DIRECTORY, 'durably-model-'))
  const store = sqlStore({ dialect: dialect(join(directory, 'durably.db')), env })
  await store.migrate()
  return {
    async empty() {
      for (const table of ['run_events', 'steps', 'logs', 'signals', 'runs'] as const) await store.db.deleteFrom(table).execute()
      return store
    },
    async close() {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function openPostgres(env: Env): Promise<OpenStore> {
  const { url, drop } = await createDatabase()
  const store = sqlStore({ dialect: postgres(url), env, clock: 'env' })
  await store.migrate()
  return {
    async empty() {
      await store.db.deleteFrom('runs').execute()
      return store
    },
    async close() {
      await store.close()
      await drop()
    },
  }
}
