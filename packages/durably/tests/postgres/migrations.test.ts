import { CompiledQuery } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import { MIGRATIONS } from '../../src/store/sql/migrations/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { BACK_TO_VERSION_5, BACK_TO_VERSION_6 } from '../sql/back-to-version.ts'
import { asVersion4, expectChildrenByStep } from '../sql/children-of-version-4.ts'
import { answering } from '../sql/fake-driver.ts'
import { openStore } from '../sql/place.ts'
import { bundleChild, inProcesses } from '../sql/processes.ts'
import { newRun } from '../sql/runs.ts'
import { migratedPostgres, temporaryDatabase } from './place.ts'

const KNOWN = MIGRATIONS.map((_, i) => i + 1)

let child = ''
beforeAll(async () => {
  child = await bundleChild('postgres-migrations')
})

describe('migrate', () => {
  test('ten processes at once migrate one database', async () => {
    const file = await temporaryDatabase()
    const tasks = Array.from({ length: 10 }, () => ({ driver: 'postgres()', file, act: 'migrate' as const }))
    expect(await inProcesses(child, tasks)).toEqual(tasks.map(() => ({ ids: [] })))
    const store = openStore(postgres(file))
    expect(await versions(store)).toEqual(KNOWN)
    await store.runs.create([newRun()])
  }, 60_000)

  test('two processes claim disjoint runs', async () => {
    const { store, url } = await migratedPostgres()
    const runs = Array.from({ length: 100 }, () => newRun())
    await store.runs.create(runs)
    const task = { driver: 'postgres()', file: url, act: 'claim' as const }
    const answers = await inProcesses(child, [task, task])
    const ids = answers.flatMap((answer) => ('ids' in answer ? answer.ids : [answer.error]))
    expect(ids.sort()).toEqual(runs.map(({ id }) => id).sort())
  }, 60_000)

  test('a database that version 4 has filled finds its children by their steps, and leaves the keys of callers alone', async () => {
    const { store } = await migratedPostgres()
    const runs = asVersion4()
    await store.runs.create(Object.values(runs))
    for (const statement of [...BACK_TO_VERSION_6.postgres, ...BACK_TO_VERSION_5]) await run(store, statement)
    await run(store, 'DROP INDEX runs_parent_step')
    await run(store, 'ALTER TABLE runs DROP COLUMN parent_step')
    await run(store, 'CREATE INDEX runs_parent ON runs (parent_run_id, id) WHERE parent_run_id IS NOT NULL')
    await run(store, 'DELETE FROM schema_versions WHERE version = 5')
    await store.migrate()
    expect(await versions(store)).toEqual(KNOWN)
    await expectChildrenByStep(store, runs)
  })

  test('a database that is newer than the code is left alone', async () => {
    const { store } = await migratedPostgres()
    await run(store, `INSERT INTO schema_versions VALUES (99, 'tomorrow', 99)`)
    await rejects(store.migrate(), 'schema_too_new', 'migrate')
    expect(await versions(store)).toEqual([...KNOWN, 99])
  })

  test('before migrate() every verb says what to do', async () => {
    const store = openStore(postgres(await temporaryDatabase()))
    const { runs, logs } = store
    for (const verb of [() => runs.get('x'), () => runs.create([newRun()]), () => runs.probe(['job']), () => logs.list('x')]) {
      expect((await rejects(verb(), 'not_migrated', 'a verb')).message).toContain('await durably.migrate()')
    }
  })

  test('a Postgres that is too old, or not in UTF8, is refused', async () => {
    const url = await temporaryDatabase()
    const saying = (row: object) =>
      openStore(answering(postgres(url), ({ sql }) => (sql.includes('server_version_num') ? [row] : undefined)))
    await rejects(saying({ version: '110022', encoding: 'UTF8' }).migrate(), 'unknown_dialect', 'Postgres 11')
    await rejects(saying({ version: '150000', encoding: 'LATIN1' }).migrate(), 'unknown_dialect', 'Latin 1')
    await saying({ version: '120000', encoding: 'UTF8' }).migrate()
  })

  test('two prefixes share a database', async () => {
    const url = await temporaryDatabase()
    const one = openStore(postgres(url), { tablePrefix: 'one_' })
    const two = openStore(postgres(url), { tablePrefix: 'two_' })
    await Promise.all([one.migrate(), two.migrate()])
    await one.runs.create([newRun({ idempotencyKey: 'k' })])
    expect(await two.runs.list({})).toEqual([])
    expect(await one.runs.list({})).toHaveLength(1)
  })
})

describe('the database is the last line', () => {
  test.each([
    ['an unknown status', `UPDATE runs SET status = 'sleeping'`],
    ['a pending run with an owner', `UPDATE runs SET lease_owner = 'me'`],
    ['a running run without a lease', `UPDATE runs SET status = 'running'`],
    ['two running runs of one key', `UPDATE runs SET status = 'running', lease_owner = id, lease_expires_at = 1`],
    ['one idempotency key twice', `UPDATE runs SET idempotency_key = 'k'`],
    ['two children of one step', `UPDATE runs SET parent_run_id = 'p', parent_step = 's'`],
  ])('%s is refused', async (_, sql) => {
    const { store } = await migratedPostgres()
    await store.runs.create([newRun({ concurrencyKey: 'k' }), newRun({ concurrencyKey: 'k' })])
    await expect(run(store, sql)).rejects.toThrow(/violates|duplicate key/)
  })
})

async function run({ db }: SqlStore, sql: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(sql))
  return rows as Record<string, unknown>[]
}

async function versions(store: SqlStore): Promise<unknown[]> {
  return (await run(store, 'SELECT version FROM schema_versions ORDER BY version')).map(({ version }) => version)
}
