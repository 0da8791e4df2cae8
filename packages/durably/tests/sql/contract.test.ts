import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery, type Dialect } from 'kysely'
import { describe, it } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { type SqlStore, sqlStore } from '../../src/store/sql/sql-store.ts'
import { describeStore } from '../../src/testing/store-contract/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { DRIVERS, MISSING, NEWER_CLIENT } from './drivers.ts'
import { userTable } from './user-table.ts'

for (const { name, dialect } of [...DRIVERS, NEWER_CLIENT]) {
  const skip = /^LibsqlDialect/.test(name) ? [{ reason: '@libsql/client gives no connection of its own', chapter: 'transactions' }] : []
  describeStore({ describe, it }, name, async () => fileWorld(dialect), { skip })
}
for (const { name, missing } of MISSING) it.skip(`${name} keeps the store contract (skipped, reason: ${missing})`, () => {})

describeStore({ describe, it }, 'sqlite(":memory:")', async () => memoryWorld(), {
  skip: [{ reason: 'a database in memory ends with its connection', tests: ['what a process wrote is there for the next one'] }],
})

describeStore({ describe, it }, 'sqlite() with a tablePrefix', async () => fileWorld(sqlite, 'durably_'))

async function fileWorld(dialect: (file: string) => Dialect, tablePrefix = '') {
  const directory = mkdtempSync(join(tmpdir(), 'durably-sql-'))
  const env = virtualEnv()
  const stores: SqlStore[] = []
  const open = async (file = 'durably.db', eventLog = true) => {
    const store = sqlStore({ dialect: dialect(join(directory, file)), env, tablePrefix, eventLog })
    stores.push(store)
    // Nothing here cuts the power, and the contract is the same.
    await store.db.executeQuery(CompiledQuery.raw('PRAGMA synchronous = OFF'))
    return store
  }
  const store = await open()
  return {
    store,
    env,
    reopen: () => open(),
    userTable: () => userTable(store),
    async withoutEventLog() {
      const store = await open('silent.db', false)
      await store.migrate()
      return store
    },
    async close() {
      for (const store of stores) await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function memoryWorld() {
  const env = virtualEnv()
  const store = sqlStore({ dialect: sqlite(':memory:'), env })
  const silent = sqlStore({ dialect: sqlite(':memory:'), env, eventLog: false })
  return {
    store,
    env,
    userTable: () => userTable(store),
    withoutEventLog: () => silent.migrate().then(() => silent),
    close: () => Promise.all([store.close(), silent.close()]),
  }
}
