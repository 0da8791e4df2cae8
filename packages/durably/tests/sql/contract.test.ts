// The store contract on every way to SQLite. Each case has a file of its own, a copy of one that was migrated before: migrating takes
// longer than most cases. How an empty file is migrated is tested in migrations.test.ts, and here in memory.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CompiledQuery, type Dialect } from 'kysely'
import { afterAll, describe, it } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { type SqlStore, sqlStore } from '../../src/store/sql/sql-store.ts'
import { describeStore } from '../../src/testing/store-contract/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { DRIVERS, MISSING, NEWER_CLIENT } from './drivers.ts'
import { MEMORY_DIRECTORY } from './place.ts'
import { userTable } from './user-table.ts'

const TEMPLATES = mkdtempSync(join(MEMORY_DIRECTORY, 'durably-templates-'))
afterAll(() => rmSync(TEMPLATES, { recursive: true, force: true }))

for (const { name, dialect } of [...DRIVERS, NEWER_CLIENT]) {
  const skip = /^LibsqlDialect/.test(name) ? [{ reason: '@libsql/client gives no connection of its own', chapter: 'transactions' }] : []
  describeStore({ describe, it }, name, inFiles(dialect), { skip })
}
for (const { name, missing } of MISSING) it.skip(`${name} keeps the store contract (skipped, reason: ${missing})`, () => {})

describeStore({ describe, it }, 'sqlite(":memory:")', async () => memoryWorld(), {
  skip: [{ reason: 'a database in memory ends with its connection', tests: ['what a process wrote is there for the next one'] }],
})

describeStore({ describe, it }, 'sqlite() with a tablePrefix', inFiles(sqlite, 'durably_'))

/** Every case in a file of its own. */
function inFiles(dialect: (file: string) => Dialect, tablePrefix = '') {
  let template: Promise<string> | undefined
  return async () => {
    template ??= migratedFile(dialect, tablePrefix)
    return fileWorld(dialect, tablePrefix, await template)
  }
}

async function migratedFile(dialect: (file: string) => Dialect, tablePrefix: string): Promise<string> {
  const file = join(mkdtempSync(join(TEMPLATES, 'template-')), 'durably.db')
  const store = sqlStore({ dialect: dialect(file), tablePrefix })
  await store.migrate()
  await store.close()
  return file
}

async function fileWorld(dialect: (file: string) => Dialect, tablePrefix: string, template: string) {
  const directory = mkdtempSync(join(MEMORY_DIRECTORY, 'durably-sql-'))
  const env = virtualEnv()
  const stores: SqlStore[] = []
  const open = async (file: string, eventLog = true) => {
    const store = sqlStore({ dialect: dialect(file), env, tablePrefix, eventLog })
    stores.push(store)
    // Nothing here cuts the power, and the contract is the same.
    await store.db.executeQuery(CompiledQuery.raw('PRAGMA synchronous = OFF'))
    return store
  }
  const copy = (name: string) => {
    const file = join(directory, name)
    copyFileSync(template, file)
    return file
  }
  const file = copy('durably.db')
  const store = await open(file)
  return {
    store,
    env,
    reopen: () => open(file),
    userTable: () => userTable(store),
    withoutEventLog: () => open(copy('silent.db'), false),
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
