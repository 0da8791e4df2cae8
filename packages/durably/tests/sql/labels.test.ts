// The rows by which a database finds runs by their labels: only runs with labels have some, and they go with their run.
import { describe, expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { countingDialect } from '../../src/testing/counting-dialect.ts'
import { BACK_TO_VERSION_6 } from './back-to-version.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { PLACES, run } from './places.ts'
import { claimed, newRun, recordStep } from './runs.ts'

const ACME = '{"tenant":"acme","kind":"import"}'

async function completed(store: SqlStore, labels: string | null): Promise<string> {
  const claim = await claimed(store, { labels })
  await store.runs.apply([{ ...recordStep(claim, 1), events: [], verb: { type: 'complete', output: null } }])
  return claim.runId
}

async function labelRows(store: SqlStore): Promise<number> {
  const [row] = await run(store, 'SELECT count(*) AS count FROM run_labels')
  return Number(row?.count)
}

describe.each(PLACES)('on $name', ({ name, dialect }) => {
  async function migrated(): Promise<SqlStore> {
    const store = openStore(await dialect())
    await store.migrate()
    return store
  }

  test('only a run with labels has rows, one for each', async () => {
    const store = await migrated()
    await store.runs.create([newRun(), newRun({ labels: ACME }), newRun()])
    expect(await labelRows(store)).toBe(2)
  })

  test('the rows go when their run is deleted, purged, or removed by code that knows no labels', async () => {
    const store = await migrated()
    const ids = [await completed(store, ACME), await completed(store, ACME), await completed(store, ACME)]
    const left = await completed(store, '{"tenant":"acme"}')
    await store.runs.delete(ids[0] ?? '')
    expect(await labelRows(store)).toBe(5)
    await run(store, `DELETE FROM runs WHERE id = '${ids[1]}'`)
    expect(await labelRows(store)).toBe(3)
    await run(store, `UPDATE runs SET finished_at = 1 WHERE id = '${ids[2]}'`)
    await store.runs.purge({ statuses: ['completed'], olderThanMs: 3_600_000, limit: 10 })
    expect(await run(store, 'SELECT name, value, run_id FROM run_labels')).toEqual([{ name: 'tenant', value: 'acme', run_id: left }])
  })

  test('a run whose labels cannot be read can be deleted', async () => {
    const store = await migrated()
    const id = await completed(store, ACME)
    await run(store, `UPDATE runs SET labels = '{broken'`)
    expect(await store.runs.delete(id)).toEqual({ outcome: 'deleted', status: 'completed' })
  })

  test('a database that version 6 has filled goes on with its runs, and takes labels', async () => {
    const store = await migrated()
    const old = newRun()
    await store.runs.create([old])
    for (const statement of BACK_TO_VERSION_6[name === 'SQLite' ? 'sqlite' : 'postgres']) await run(store, statement)
    await store.migrate()
    const [created] = await store.runs.create([newRun({ labels: ACME })])
    expect((await store.runs.list({})).map(({ labels }) => labels)).toEqual([ACME, null])
    expect(await store.runs.list({ labels: { kind: 'import' }, limit: 2 })).toMatchObject([{ id: created?.run.id }])
    expect(await store.runs.claim({ jobNames: ['job'], tokens: ['a', 'b'], leaseMs: 1000 })).toHaveLength(2)
  })
})

// EXPLAIN of a DELETE does not show what its triggers do.
test('on SQLite the rows of a run are found by their primary key when it goes', async () => {
  const store = await migratedStore(sqlite(':memory:'))
  const [trigger] = await run(store, `SELECT sql FROM sqlite_master WHERE name = 'run_labels_delete'`)
  const body = /BEGIN\s+(DELETE .*); END/.exec(String(trigger?.sql))?.[1]?.replaceAll('OLD.id', `'id'`).replaceAll('OLD.labels', `'{}'`)
  const plan = (await run(store, `EXPLAIN QUERY PLAN ${body}`)).map(({ detail }) => detail)
  expect(plan).toContain('SEARCH run_labels USING PRIMARY KEY (name=? AND value=? AND run_id=?)')
})

test('on SQLite a run with labels takes as many statements as one without', async () => {
  const counting = countingDialect(sqlite(temporaryFile()))
  const store = await migratedStore(counting)
  const statements = async (labels: string | null) => {
    counting.reset()
    await store.runs.delete(await completed(store, labels))
    return counting.statements.length
  }
  expect(await statements(ACME)).toBe(await statements(null))
})
