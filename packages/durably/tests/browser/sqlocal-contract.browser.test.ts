// The store contract on SQLocal. A worker with SQLite in it takes longer to start than most cases to run, so all of them share one,
// and its tables are emptied after each. Nothing here cuts the power, and hardly anyone else opens the file.
import { CompiledQuery, type Driver } from 'kysely'
import { SQLocalKysely } from 'sqlocal/kysely'
import { afterAll, describe, it } from 'vitest'
import { type SqlStore, sqlStore } from '../../src/store/sql/sql-store.ts'
import { describeStore } from '../../src/testing/store-contract/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { userTable } from '../sql/user-table.ts'

const FILE = 'contract.sqlite3'
const client = new SQLocalKysely({
  databasePath: FILE,
  onInit: (sql) => [
    sql`PRAGMA synchronous = OFF`,
    sql`PRAGMA journal_mode = MEMORY`,
    sql`PRAGMA locking_mode = EXCLUSIVE`,
    sql`PRAGMA cache_size = -65536`,
  ],
})
afterAll(() => client.destroy())

describeStore({ describe, it }, 'SQLocal on OPFS', async () => {
  const env = virtualEnv()
  const store = sqlStore({ dialect: lasting(client), env })
  const others: SqlStore[] = []
  return {
    store,
    env,
    async reopen() {
      await client.sql`PRAGMA locking_mode = NORMAL`
      await client.sql`SELECT * FROM sqlite_master`
      const other = sqlStore({ dialect: new SQLocalKysely(FILE).dialect, env })
      others.push(other)
      return other
    },
    userTable: () => userTable(store),
    async withoutEventLog() {
      const silent = sqlStore({ dialect: lasting(client), env, tablePrefix: 'silent_', eventLog: false })
      await silent.migrate()
      return silent
    },
    async close() {
      await Promise.all(others.map((other) => other.close()))
      await empty(store)
    },
  }
})

/** Outlives the store that it is given to. */
function lasting({ dialect }: SQLocalKysely) {
  const createDriver = (): Driver => Object.assign(dialect.createDriver(), { destroy: async () => {} })
  return { ...dialect, createDriver }
}

async function empty({ db }: SqlStore): Promise<void> {
  const tables = await db.introspection.getTables()
  const filled = tables.filter(({ name }) => !name.endsWith('schema_versions'))
  // Twice: what is deleted from one table may be noted in another.
  await client.batch((sql) => [...filled, ...filled].map(({ name }) => sql(`DELETE FROM ${name}`)))
  await db.executeQuery(CompiledQuery.raw('PRAGMA locking_mode = EXCLUSIVE'))
}
