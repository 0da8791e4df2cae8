// The store contract on browserDialect. One database for all cases, emptied after each; every store is a guest of the instance that
// has it open.
import { CompiledQuery } from 'kysely'
import { afterAll, describe, it } from 'vitest'
import { browserDialect } from '../../src/browser/index.ts'
import { type SqlStore, sqlStore } from '../../src/store/sql/sql-store.ts'
import { describeStore } from '../../src/testing/store-contract/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { userTable } from '../sql/user-table.ts'

const host = sqlStore({ dialect: browserDialect('contract', { durability: 'relaxed' }) })
afterAll(() => host.close())

describeStore({ describe, it }, 'browserDialect()', async () => {
  const env = virtualEnv()
  const stores: SqlStore[] = []
  const open = async (tablePrefix = '', eventLog = true) => {
    const store = sqlStore({ dialect: browserDialect('contract'), env, tablePrefix, eventLog })
    stores.push(store)
    return store
  }
  await host.migrate()
  const store = await open()
  return {
    store,
    env,
    reopen: () => open(),
    userTable: () => userTable(store),
    async withoutEventLog() {
      const store = await open('silent_', false)
      await store.migrate()
      return store
    },
    async close() {
      for (const store of stores) await store.close()
      await empty(host)
    },
  }
})

async function empty({ db }: SqlStore): Promise<void> {
  const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw("SELECT name FROM sqlite_master WHERE type = 'table'"))
  const tables = rows.filter(({ name }) => !/schema_versions$|^sqlite_/.test(name))
  await db.transaction().execute(async (trx) => {
    for (const { name } of tables) await trx.executeQuery(CompiledQuery.raw(`DELETE FROM ${name}`))
  })
}
