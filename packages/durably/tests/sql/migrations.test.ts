import { CompiledQuery, type Dialect } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { encodeWaits, NEVER_MS } from '../../src/model/wait.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { MIGRATIONS } from '../../src/store/sql/migrations/index.ts'
import { SCHEMA_VERSION } from '../../src/store/sql/migrations/schema-version.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { countingDialect } from '../../src/testing/counting-dialect.ts'
import { BACK_TO_VERSION_5, BACK_TO_VERSION_6, BACK_TO_VERSION_12 } from './back-to-version.ts'
import { asVersion4, expectChildrenByStep } from './children-of-version-4.ts'
import { DRIVERS } from './drivers.ts'
import { answering } from './fake-driver.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { bundleChild, inProcesses } from './processes.ts'
import { claimed, newRun, recordStep } from './runs.ts'

const KNOWN = MIGRATIONS.map((_, i) => i + 1)

let child = ''
beforeAll(async () => {
  child = await bundleChild('migrations')
})

describe('migrate', () => {
  test('the version of the schema counts the migrations', () => {
    expect(SCHEMA_VERSION).toBe(MIGRATIONS.length)
  })

  test.each(DRIVERS)('ten processes at once migrate one file with $name', async ({ name, dialect }) => {
    const file = temporaryFile()
    const tasks = Array.from({ length: 10 }, () => ({ driver: name, file, act: 'migrate' as const }))
    expect(await inProcesses(child, tasks)).toEqual(tasks.map(() => ({ ids: [] })))
    const store = openStore(dialect(file))
    expect(await versions(store)).toEqual(KNOWN)
    await store.runs.create([newRun()])
  })

  test('a second call only reads', async () => {
    const dialect = countingDialect(sqlite(temporaryFile()))
    const store = await migratedStore(dialect)
    dialect.reset()
    await store.migrate()
    expect(dialect.commits).toBe(0)
    expect(dialect.statements).toHaveLength(3)
  })

  test('all pending migrations are one transaction', async () => {
    const dialect = countingDialect(sqlite(temporaryFile()))
    await migratedStore(dialect)
    expect(dialect.commits).toBe(1)
  })

  test('a database that version 1 has filled goes on with its runs', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    await store.runs.create([newRun(), newRun()])
    const claim = await claimed(store)
    await backTo2(store)
    await run(store, 'ALTER TABLE runs DROP COLUMN streams')
    await run(store, 'DELETE FROM schema_versions WHERE version = 2')
    await store.migrate()
    expect(await versions(store)).toEqual(KNOWN)
    expect(await store.runs.apply([recordStep(claim, 1)])).toEqual([{ ok: true, cancelRequested: false }])
    expect((await store.runs.claim({ jobNames: ['job'], tokens: ['a', 'b'], leaseMs: 1000 })).map(({ streams }) => streams)).toEqual([
      null,
      null,
    ])
  })

  test('a database that version 2 has filled goes on with its runs, and they wait, fail and hear signals', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    await store.runs.create([newRun()])
    const claim = await claimed(store)
    await backTo2(store)
    await store.migrate()
    const waitingFor = encodeWaits([{ name: 'answer', kind: 'signal', dueAt: null }])
    const verb = { type: 'park', runAt: NEVER_MS, waitingFor, signals: 0 } as const
    expect(await store.runs.apply([{ ...recordStep(claim, 1), verb }])).toEqual([{ ok: true, cancelRequested: false }])
    expect(await store.signals.send({ id: 's', runId: claim.runId, name: 'answer', value: null, createdAt: '' })).toBe('accepted')
    const rows = await store.runs.claim({ jobNames: ['job'], tokens: ['a', 'b'], leaseMs: 1000 })
    expect(rows.map(({ attempts, deadlineAt, effects, parentRunId }) => [attempts, deadlineAt, effects, parentRunId])).toEqual([
      [0, null, null, null],
      [0, null, null, null],
    ])
  })

  test('a database that version 3 has filled goes on with its runs, and they can be retried', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    await store.runs.create([newRun()])
    const claim = await claimed(store)
    await backTo3(store)
    await store.migrate()
    const verb = { type: 'fail', error: 'e', failure: '{}', reason: 'error', failedStepName: '' } as const
    expect(await store.runs.apply([{ ...recordStep(claim, 1), verb }])).toEqual([{ ok: true, cancelRequested: false }])
    expect(await store.runs.retry(claim.runId)).toMatchObject({ outcome: 'retried', run: { retryGeneration: 1 } })
  })

  test('a database that version 4 has filled finds its children by their steps, and leaves the keys of callers alone', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    const runs = asVersion4()
    await store.runs.create(Object.values(runs))
    await backTo4(store)
    await store.migrate()
    expect(await versions(store)).toEqual(KNOWN)
    await expectChildrenByStep(store, runs)
  })

  test('a database that version 12 has filled goes on with its runs, and new ones may hold their key', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    await store.runs.create([newRun({ concurrencyKey: 'k' }), newRun({ concurrencyKey: 'k' })])
    const claim = await claimed(store)
    for (const statement of BACK_TO_VERSION_12) await run(store, statement)
    await store.migrate()
    expect(await versions(store)).toEqual(KNOWN)
    expect(await store.runs.getHolder('k')).toMatchObject({ id: claim.runId, holdKey: false })
    expect(await store.runs.apply([{ ...recordStep(claim, 1), verb: { type: 'release' } }])).toEqual([{ ok: true, cancelRequested: false }])
    expect(await store.runs.getHolder('k')).toBe(null)
    const holding = newRun({ concurrencyKey: 'new', holdKey: true, jobName: 'new' })
    await store.runs.create([holding])
    const [{ leaseGeneration: generation, leaseOwner } = { leaseGeneration: 0, leaseOwner: null }] = await store.runs.claim({
      ...{ jobNames: ['new'], tokens: ['a'], leaseMs: 1000 },
    })
    const held = { runId: holding.id, generation, token: leaseOwner ?? '' }
    await store.runs.apply([{ ...recordStep(held, 1), verb: { type: 'release' } }])
    expect(await store.runs.getHolder('new')).toMatchObject({ id: holding.id, status: 'pending' })
  })

  test('a database that is newer than the code is left alone', async () => {
    const store = await migratedStore(sqlite(temporaryFile()))
    await run(store, `INSERT INTO schema_versions VALUES (99, 'tomorrow', 99)`)
    const error = await rejects(store.migrate(), 'schema_too_new', 'migrate')
    expect(error.message).toContain('schema version 99')
    expect(await versions(store)).toEqual([...KNOWN, 99])
  })

  test('before migrate() every verb says what to do', async () => {
    const store = openStore(sqlite(temporaryFile()))
    for (const verb of [store.runs.get('x'), store.runs.create([newRun()]), store.runs.probe(['job']), store.logs.list('x')]) {
      const error = await rejects(verb, 'not_migrated', 'a verb')
      expect(error.message).toContain('await durably.migrate()')
    }
  })

  test('an SQLite that is too old is refused', async () => {
    const store = openStore(old('3.37.2'))
    const error = await rejects(store.migrate(), 'unknown_dialect', 'migrate')
    expect(error.message).toContain('3.37.2')
    await openStore(old('3.38.0')).migrate()
    await openStore(old('4.0.0')).migrate()
  })

  test('an SQLite without JSON functions is refused', async () => {
    const dialect = answering(sqlite(':memory:'), ({ sql }) => {
      if (sql.includes('json_each')) throw new Error('no such table: json_each')
    })
    const error = await rejects(openStore(dialect).migrate(), 'unknown_dialect', 'migrate')
    expect(error.message).toContain('JSON functions; use a build that has them')
  })

  test('two prefixes share a database', async () => {
    const file = temporaryFile()
    const one = await migratedStore(sqlite(file), { tablePrefix: 'one_' })
    const two = await migratedStore(sqlite(file), { tablePrefix: 'two_' })
    const plain = await migratedStore(sqlite(file))
    await one.runs.create([newRun({ idempotencyKey: 'k' })])
    expect(await two.runs.list({})).toEqual([])
    expect(await plain.runs.list({})).toEqual([])
    expect(await one.runs.list({})).toHaveLength(1)
  })

  test.each(['', 'durably_'])('with the prefix %j the tables and indexes are those of the design', async (tablePrefix) => {
    const store = await migratedStore(sqlite(temporaryFile()), { tablePrefix })
    const rows = await run(store, `SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name`)
    const indexes = rows.filter(({ type }) => type === 'index').map(({ sql }) => String(sql).replace(/^CREATE (UNIQUE )?INDEX "\S+"/, '$1'))
    expect(rows.every(({ name, tbl_name }) => String(name).startsWith(tablePrefix) && String(tbl_name).startsWith(tablePrefix))).toBe(true)
    expect(indexes.map((sql) => sql.replaceAll(`"${tablePrefix}`, '"')).sort()).toEqual(
      [
        ' ON "runs" (job_name, run_at, id, concurrency_key) WHERE status = \'pending\'',
        ' ON "logs" (run_id, id)',
        ' ON "runs" (id) WHERE status = \'running\'',
        ' ON "runs" (finished_at, id) WHERE finished_at IS NOT NULL',
        ' ON "runs" (status, id)',
        ' ON "runs" (job_name, status, id)',
        ' ON "runs" (concurrency_key, id) WHERE concurrency_key IS NOT NULL',
        ' ON "runs" (parent_run_id, id) WHERE parent_run_id IS NOT NULL',
        ' ON "runs" (schedule_id, id) WHERE schedule_id IS NOT NULL',
        ' ON "runs" (schedule_id) WHERE schedule_id IS NOT NULL AND finished_at IS NULL',
        ' ON "schedules" (next_at, id) WHERE paused = 0',
        ' ON "runs" (assigned_worker_id, status, run_at, id) WHERE assigned_worker_id IS NOT NULL',
        ' ON "runs" (concurrency_key) WHERE assigned_worker_id IS NOT NULL',
        ' ON "runs" (id) WHERE assigned_at IS NOT NULL',
        ' ON "runs" (concurrency_key, run_at, id) WHERE status = \'pending\' AND prefer_worker_id IS NOT NULL',
        ' ON "inbox" (processed_at, created_at, id)',
        ' ON "audit" (created_at, id)',
        ' ON "audit" (actor, created_at, id)',
        ' ON "audit" (action, created_at, id)',
        ' ON "audit" (target_kind, target_id, created_at, id)',
        ' ON "steps" (run_id, "index")',
        `UNIQUE  ON "runs" (concurrency_key)
    WHERE (status = 'running' OR status = 'pending' AND hold_key = 1 AND lease_generation > retry_generation) AND concurrency_key IS NOT NULL`,
        'UNIQUE  ON "runs" (idempotency_key, job_name) WHERE idempotency_key IS NOT NULL',
        'UNIQUE  ON "runs" (parent_run_id, parent_step) WHERE parent_run_id IS NOT NULL',
        'UNIQUE  ON "runs" (schedule_id, scheduled_for) WHERE schedule_id IS NOT NULL',
        'UNIQUE  ON "runs" (lease_owner) WHERE lease_owner IS NOT NULL',
        'UNIQUE  ON "steps" (run_id, name) WHERE status = \'completed\'',
      ].sort(),
    )
  })
})

describe('the database is the last line', () => {
  test.each([
    ['an unknown status', `UPDATE runs SET status = 'sleeping'`],
    ['a pending run with an owner', `UPDATE runs SET lease_owner = 'me'`],
    ['a running run without a lease', `UPDATE runs SET status = 'running'`],
    ['two running runs of one key', `UPDATE runs SET status = 'running', lease_owner = id, lease_expires_at = 1`],
    ['two pending runs that hold one key', `UPDATE runs SET hold_key = 1, lease_generation = 1`],
    [
      'a running run of a key that a pending one holds',
      `UPDATE runs SET hold_key = CASE WHEN id = (SELECT min(id) FROM runs) THEN 1 END, lease_generation = 1,
        status = CASE WHEN id = (SELECT min(id) FROM runs) THEN 'pending' ELSE 'running' END,
        lease_owner = CASE WHEN id = (SELECT min(id) FROM runs) THEN NULL ELSE id END,
        lease_expires_at = CASE WHEN id = (SELECT min(id) FROM runs) THEN NULL ELSE 1 END`,
    ],
    ['one idempotency key twice', `UPDATE runs SET idempotency_key = 'k'`],
    ['two children of one step', `UPDATE runs SET parent_run_id = 'p', parent_step = 's'`],
  ])('%s is refused', async (_, sql) => {
    const store = await migratedStore(sqlite(':memory:'))
    await store.runs.create([newRun({ concurrencyKey: 'k' }), newRun({ concurrencyKey: 'k' })])
    await expect(run(store, sql)).rejects.toThrow('constraint failed')
  })

  test('a step completed twice is refused', async () => {
    const store = await migratedStore(sqlite(':memory:'))
    const insert = (id: string, status: string) =>
      run(store, `INSERT INTO steps VALUES ('${id}', 'r', 'name', 0, '${status}', NULL, NULL, 'at', NULL, NULL, 1)`)
    await insert('a', 'failed')
    await insert('b', 'completed')
    await insert('c', 'failed')
    await expect(insert('d', 'completed')).rejects.toThrow('UNIQUE constraint failed')
  })
})

function old(version: string): Dialect {
  return answering(sqlite(':memory:'), ({ sql }) => (sql.includes('sqlite_version()') ? [{ version }] : undefined))
}

async function run({ db }: SqlStore, sql: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(sql))
  return rows as Record<string, unknown>[]
}

/** As version 4 left it. */
async function backTo4(store: SqlStore): Promise<void> {
  for (const statement of [...BACK_TO_VERSION_6.sqlite, ...BACK_TO_VERSION_5]) await run(store, statement)
  await run(store, 'DROP INDEX runs_parent_step')
  await run(store, 'ALTER TABLE runs DROP COLUMN parent_step')
  await run(store, 'CREATE INDEX runs_parent ON runs (parent_run_id, id) WHERE parent_run_id IS NOT NULL')
  await run(store, 'DELETE FROM schema_versions WHERE version = 5')
}

/** As version 3 left it. */
async function backTo3(store: SqlStore): Promise<void> {
  await backTo4(store)
  await run(store, 'ALTER TABLE runs DROP COLUMN retry_generation')
  await run(store, 'DELETE FROM schema_versions WHERE version = 4')
}

/** As version 2 left it. */
async function backTo2(store: SqlStore): Promise<void> {
  await backTo3(store)
  for (const index of ['runs_parent', 'runs_finished_at']) await run(store, `DROP INDEX ${index}`)
  for (const column of ['attempts', 'deadline_at', 'waiting_for', 'signals', 'effects', 'parent_run_id']) {
    await run(store, `ALTER TABLE runs DROP COLUMN ${column}`)
  }
  await run(store, 'DROP TABLE signals')
  await run(store, 'DELETE FROM schema_versions WHERE version = 3')
}

async function versions(store: SqlStore): Promise<unknown[]> {
  return (await run(store, 'SELECT version FROM schema_versions ORDER BY version')).map(({ version }) => version)
}
