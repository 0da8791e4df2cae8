import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { newRun } from '../sql/runs.ts'
import { migratedPostgres } from './place.ts'

/** What decides whether a run is claimed, or by whom. */
const NEEDED = ['id', 'status', 'job_name', 'run_at', 'lease_owner', 'lease_expires_at']

async function columnsOf(store: SqlStore): Promise<{ name: string; type: string }[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = 'runs' AND table_schema = current_schema()`.execute(
    store.db,
  )
  return rows.filter(({ name }) => !NEEDED.includes(name))
}

/** The same as a claim answers, and as it is found by its id, and by its token. */
async function expectAsStored(store: SqlStore): Promise<void> {
  const [claimed] = await store.runs.claim({ jobNames: ['job'], tokens: ['token'], leaseMs: 1000 })
  const { readAt: _, ...stored } = (await store.runs.get(claimed?.id ?? '')) ?? {}
  expect(claimed).toEqual(stored)
  expect(await store.runs.adopt(['token'])).toEqual([claimed])
  // What is claimed already is answered in the same way.
  expect(await store.runs.claim({ jobNames: ['job'], tokens: ['token'], leaseMs: 1000 })).toEqual([claimed])
  await sql`DELETE FROM runs`.execute(store.db)
}

test('a claimed run is the one that is stored, whichever column has something', async () => {
  const { store } = await migratedPostgres()
  await store.runs.create([newRun()])
  await expectAsStored(store)
  for (const { name, type } of await columnsOf(store)) {
    await store.runs.create([newRun()])
    const value = type === 'text' ? 'strange " \\ \u0001 \n\u2028 é 😀' : type === 'bigint' ? 9_007_199_254_740 : 1
    const streams = name === 'streams' ? '[["step",3]]' : name === 'continuation_state' ? 'awaiting_confirmation' : undefined
    await sql`UPDATE runs SET ${sql.id(name)} = ${streams ?? value}`.execute(store.db)
    await expectAsStored(store)
  }
})
