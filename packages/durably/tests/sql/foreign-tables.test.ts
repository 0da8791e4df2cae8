// A database in which somebody else has tables with the names of ours.
import { describe, expect, test } from 'vitest'
import { rejects } from '../../src/testing/assert.ts'
import { openStore } from './place.ts'
import { PLACES, run } from './places.ts'
import { newRun } from './runs.ts'

describe.each(PLACES)('on $name', ({ dialect, names }) => {
  test.each([
    ['runs', 'CREATE TABLE runs (mine TEXT)'],
    ['logs', 'CREATE TABLE logs (id INTEGER, line TEXT)'],
    ['signals, which a later migration creates', 'CREATE TABLE signals (mine TEXT)'],
    ['an index', 'CREATE TABLE mine (at INTEGER); CREATE INDEX runs_pick ON mine (at)'],
    ['schema_versions', 'CREATE TABLE schema_versions (mine TEXT)'],
    ['schema_versions with versions', 'CREATE TABLE schema_versions (version INTEGER); INSERT INTO schema_versions VALUES (3)'],
    [
      'schema_versions like ours',
      `CREATE TABLE schema_versions (version INTEGER, applied_at TEXT); INSERT INTO schema_versions VALUES (3, '')`,
    ],
    ['schema_versions far ahead', `CREATE TABLE schema_versions (version INTEGER); INSERT INTO schema_versions VALUES (2024)`],
    ['schema_versions of texts', `CREATE TABLE schema_versions (version TEXT); INSERT INTO schema_versions VALUES ('20240101')`],
  ])('nothing is created beside %s of someone else, and the message says what to do', async (_, theirs) => {
    const store = openStore(await dialect())
    for (const statement of theirs.split('; ')) await run(store, statement)
    const before = await run(store, names)
    const error = await rejects(store.migrate(), 'store_rejected', 'migrate')
    for (const advice of ['another file', `{ schema: 'durably' }`, 'tablePrefix']) expect(error.message).toContain(advice)
    expect(await run(store, names)).toEqual(before)
  })

  test('with a prefix there is room for both', async () => {
    const place = await dialect()
    const store = openStore(place, { tablePrefix: 'durably_' })
    for (const name of ['runs', 'logs', 'schema_versions']) await run(store, `CREATE TABLE ${name} (mine TEXT)`)
    await store.migrate()
    await store.runs.create([newRun()])
    expect(await store.runs.list({})).toHaveLength(1)
  })
})
