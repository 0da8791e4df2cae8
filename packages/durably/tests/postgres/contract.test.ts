import pg from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type SqlStore, sqlStore } from '../../src/store/sql/sql-store.ts'
import { describeStore } from '../../src/testing/store-contract/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { userTable } from '../sql/user-table.ts'
import { createDatabase, DIALECTS, type TestDatabase } from './place.ts'

let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 10 })
  // Dropping its database may cut a connection that is just ending.
  pool.on('error', () => {})
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

for (const { name, over } of DIALECTS) {
  describeStore({ describe, it }, name, async () => {
    const env = virtualEnv()
    const stores: SqlStore[] = []
    const open = async (tablePrefix = '', eventLog = true) => {
      // The contract moves the time; that of the server goes its own way (clock.test.ts).
      const store = sqlStore({ dialect: over(pool), env, clock: 'env', tablePrefix, eventLog })
      stores.push(store)
      return store
    }
    const store = await open()
    await store.migrate()
    return {
      store,
      env,
      reopen: () => open(),
      userTable: () => userTable(store),
      async withoutEventLog() {
        const store = await open('silent_', false)
        await store.migrate()
        await pool.query('DELETE FROM silent_runs; DELETE FROM silent_workers; DELETE FROM silent_archive_removals')
        return store
      },
      async close() {
        await pool.query(
          'DELETE FROM runs; DELETE FROM schedules; DELETE FROM leaders; DELETE FROM workers; DELETE FROM inbox; DELETE FROM job_definitions; DELETE FROM settings; DELETE FROM audit; DELETE FROM archive_removals',
        )
        for (const store of stores) await store.close()
      },
    }
  })
}
