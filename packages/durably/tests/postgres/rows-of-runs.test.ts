// The rows that belong to a run go with it, and none comes after it, although for most of them no foreign key says so (ADR 0030).
import { type Dialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import { SCHEMA_VERSION } from '../../src/store/sql/migrations/schema-version.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { BACK_TO_VERSION_17 } from '../sql/back-to-version.ts'
import { migratedStore } from '../sql/place.ts'
import { run } from '../sql/places.ts'
import { claimed, realEnv, recordStep } from '../sql/runs.ts'
import { migratedPostgres, temporaryDatabase } from './place.ts'

const TABLES = ['steps', 'logs', 'run_events', 'signals', 'run_labels']

const LEVELS = ['read committed', 'repeatable read', 'serializable']

const NOBODY = { runId: 'nobody', generation: 1, token: 'token' }

/** A run with a row in each of the tables. */
async function fullRun(store: SqlStore): Promise<string> {
  const owner = await claimed(store, { labels: '{"tenant":"acme"}' })
  await store.runs.apply([{ ...recordStep(owner, 1), logs: [lineOf(owner.runId)] }])
  await store.signals.send(signalTo(owner.runId))
  return owner.runId
}

function lineOf(runId: string) {
  return { id: realEnv.id(), runId, stepName: null, level: 'info' as const, message: '', data: null, timestamp: '' }
}

function signalTo(runId: string) {
  return { id: realEnv.id(), runId, name: 'go', value: null, createdAt: '' }
}

/** The runs that have rows, table by table. */
async function runsWithRows(store: SqlStore, prefix = ''): Promise<string[][]> {
  const found = TABLES.map((table) => run(store, `SELECT DISTINCT run_id FROM ${prefix}${table} ORDER BY run_id`))
  return (await Promise.all(found)).map((rows) => rows.map(({ run_id }) => String(run_id)))
}

describe('a run that is deleted', () => {
  const places: [string, (url: string) => Dialect, string][] = [
    ['', (url) => postgres(url), ''],
    [' of a schema', (url) => postgres(url, { schema: 'durably' }), 'durably.'],
  ]

  // As older versions of the code do, and statements of the user.
  test.each(places)('by its row alone takes its rows%s along', async (_, dialect, prefix) => {
    const store = await migratedStore(dialect(await temporaryDatabase()))
    const [gone, kept] = [await fullRun(store), await fullRun(store)]
    expect(await runsWithRows(store, prefix)).toEqual(TABLES.map(() => [gone, kept].sort()))
    await run(store, `DELETE FROM ${prefix}runs WHERE id = '${gone}'`)
    expect(await runsWithRows(store, prefix)).toEqual(TABLES.map(() => [kept]))
  })

  test('takes the rows along that version 17 has written', async () => {
    const { store } = await migratedPostgres()
    const [gone, kept] = [await fullRun(store), await fullRun(store)]
    for (const statement of BACK_TO_VERSION_17.postgres) await run(store, statement)
    await expect(run(store, `INSERT INTO run_events VALUES ('nobody', 1, '', '{}', '')`)).rejects.toThrow('foreign key')
    await store.migrate()
    await run(store, `DELETE FROM runs WHERE id = '${gone}'`)
    expect(await runsWithRows(store)).toEqual(TABLES.map(() => [kept]))
    const keys = await run(store, `SELECT conrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'f' ORDER BY 1`)
    expect(keys.map(({ name }) => name)).toEqual(['logs', 'run_labels', 'signals'])
  })

  test('takes its rows along when another search path is set', async () => {
    const url = await temporaryDatabase()
    const store = await migratedStore(postgres(url))
    const runId = await fullRun(store)
    const client = new pg.Client(url)
    await client.connect()
    onTestFinished(() => client.end())
    // Tables of the same names stand in the path.
    for (const statement of [
      'CREATE SCHEMA elsewhere',
      'SET search_path = elsewhere',
      ...TABLES.map((name) => `CREATE TABLE ${name} (run_id text)`),
    ])
      await client.query(statement)
    await client.query('DELETE FROM public.runs WHERE id = $1', [runId])
    expect(await runsWithRows(store)).toEqual(TABLES.map(() => []))
  })

  test('has its trigger also if the migration met a transaction that locks the same tables in another order', async () => {
    const { store, url } = await migratedPostgres()
    for (const statement of BACK_TO_VERSION_17.postgres) await run(store, statement)
    const worker = new pg.Client(url)
    await worker.connect()
    onTestFinished(() => worker.end())
    // So that the migration is the one that is ended.
    for (const statement of [`SET deadlock_timeout = '60s'`, 'BEGIN', 'LOCK TABLE steps IN ACCESS SHARE MODE'])
      await worker.query(statement)
    const migrating = store.migrate()
    await settledOrWaiting(worker, migrating)
    await worker.query('LOCK TABLE runs IN ROW EXCLUSIVE MODE')
    await worker.query('COMMIT')
    await migrating
    expect(await run(store, 'SELECT max(version) AS version FROM schema_versions')).toEqual([{ version: SCHEMA_VERSION }])
  })

  test('takes its rows along in the transaction that deletes it', async () => {
    const { store } = await migratedPostgres()
    const runId = await fullRun(store)
    const undone = store.db.transaction().execute(async (trx) => {
      await sql`DELETE FROM runs`.execute(trx)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await runsWithRows(store)).toEqual(TABLES.map(() => [runId]))
  })
})

describe('nothing is left of a run that is deleted while', () => {
  type Owner = Awaited<ReturnType<typeof claimed>>
  type Writer = (store: SqlStore, owner: Owner) => Promise<unknown>
  const stepWithLine = (owner: Owner) => ({ ...recordStep(owner, 1), logs: [lineOf(owner.runId)] })
  const writers: [string, 'running' | 'pending' | 'failed', Writer][] = [
    ['its owner records a step', 'running', ({ runs }, owner) => runs.apply([stepWithLine(owner)])],
    ['its owner records a step in a group', 'running', ({ runs }, owner) => runs.apply([owner, NOBODY].map(stepWithLine))],
    ['a plugin stores a log line', 'running', ({ logs }, { runId }) => logs.append([lineOf(runId)])],
    ['a signal is sent', 'running', ({ signals }, { runId }) => signals.send(signalTo(runId))],
    ['it is taken back', 'running', ({ runs }, { token }) => runs.reap({ maxRecoveries: 3, tokens: [token] })],
    ['it is claimed', 'pending', ({ runs }) => runs.claim({ jobNames: ['job'], tokens: ['token'], leaseMs: 1000 })],
    ['it is cancelled', 'pending', ({ runs }, { runId }) => runs.cancel(runId)],
    ['it is retried', 'failed', ({ runs }, { runId }) => runs.retry(runId)],
  ]

  const cases = LEVELS.flatMap((level) => writers.map((writer) => [level, ...writer] as const))

  test.each(cases)('in %s, %s', async (level, _, status, write) => {
    const { store, url } = await migratedAt(level)
    const owner = await claimed(store)
    if (status !== 'running') await run(store, `UPDATE runs SET status = '${status}', lease_owner = NULL, lease_expires_at = NULL`)
    const deleting = new pg.Client(url)
    await deleting.connect()
    onTestFinished(() => deleting.end())
    await deleting.query('BEGIN')
    await deleting.query('DELETE FROM runs WHERE id = $1', [owner.runId])
    const writing = write(store, owner)
    await settledOrWaiting(deleting, writing)
    await deleting.query('COMMIT')
    await writing
    expect(await runsWithRows(store)).toEqual(TABLES.map(() => []))
  })
})

describe('no row is left without its run when it is deleted while another transaction', () => {
  const WRITES: [string, (client: pg.Client, runId: string) => Promise<unknown>][] = [
    [
      'stores a log line',
      (client, runId) =>
        client.query(
          `INSERT INTO logs (id, run_id, level, message, timestamp) SELECT 'line', id, 'info', '', '' FROM runs WHERE id = $1 FOR KEY SHARE`,
          [runId],
        ),
    ],
    [
      'stores an event, as an owner does',
      (client, runId) =>
        client.query(
          `WITH moved AS (UPDATE runs SET last_event_sequence = last_event_sequence + 1 WHERE id = $1 RETURNING id, last_event_sequence AS seq)
           INSERT INTO run_events SELECT id, seq, 'run:progress', '{}', '' FROM moved`,
          [runId],
        ),
    ],
  ]

  test.each(LEVELS.flatMap((level) => WRITES.map((write) => [level, ...write] as const)))('%s: %s', async (level, _, write) => {
    const { store, url } = await migratedAt(level)
    const { runId } = await claimed(store)
    await run(store, `UPDATE runs SET status = 'failed', lease_owner = NULL, lease_expires_at = NULL, finished_at = 1`)
    const writing = new pg.Client(url)
    await writing.connect()
    onTestFinished(() => writing.end())
    await writing.query('BEGIN')
    await write(writing, runId)
    const deleting = store.runs.delete(runId).catch(() => {})
    await settledOrWaiting(writing, deleting)
    await writing.query('COMMIT')
    await deleting
    const runs = (await run(store, 'SELECT id FROM runs')).map(({ id }) => String(id))
    expect((await runsWithRows(store)).flat().filter((id) => !runs.includes(id))).toEqual([])
  })
})

/** A store in a database with this default of `transaction_isolation`. */
async function migratedAt(level: string): Promise<{ store: SqlStore; url: string }> {
  const url = await temporaryDatabase()
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = '${level}'`)
  await client.end()
  return { store: await migratedStore(postgres(url)), url }
}

/** A write that skips locked rows is answered at once; all others wait for the delete. */
async function settledOrWaiting(client: pg.Client, writing: Promise<unknown>): Promise<void> {
  let isSettled = false
  writing.finally(() => {
    isSettled = true
  })
  for (let tries = 0; tries < 500; tries++) {
    const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    if (rows.length > 0 || isSettled) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('the write neither waits nor is it answered')
}
