import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { createRuns } from '../../src/store/sql/postgres/create.ts'
import { testPlainRuns } from '../sql/plain-runs.ts'
import { newRun } from '../sql/runs.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

testPlainRuns(async () => (await migratedPostgres()).store)

test('a new run is not looked for among the others, whatever the plan of the statement is', async () => {
  const { store } = await migratedPostgres()
  await store.runs.create(Array.from({ length: 200 }, () => newRun()))
  const { deps, sent } = capturing(store.db)
  await createRuns(deps)([newRun({ idempotencyKey: 'k' })]).catch(() => {})
  const nodes = await store.db.connection().execute(async (db) => {
    // As in a plan that was made while the table was empty.
    for (const method of ['indexscan', 'indexonlyscan', 'bitmapscan'])
      await db.executeQuery(CompiledQuery.raw(`SET enable_${method} = off`))
    return explain(db, sent[0])
  })
  expect(nodes.some((node) => node['Node Type'] === 'Seq Scan')).toBe(true)
  // The run that is given.
  expect(rowsRead(nodes)).toBe(1)
})
