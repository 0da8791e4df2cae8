// The rows that belong to a run go with it, and none comes after it, although no foreign key says so (ADR 0030).
import { type Dialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { BACK_TO_VERSION_17 } from '../sql/back-to-version.ts'
import { migratedStore } from '../sql/place.ts'
import { run } from '../sql/places.ts'
import { claimed, realEnv, recordStep } from '../sql/runs.ts'
import { migratedPostgres, temporaryDatabase } from './place.ts'

const TABLES = ['steps', 'logs', 'run_events', 'signals', 'run_labels']

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
    await expect(run(store, `INSERT INTO signals VALUES ('nobody', 'go', 'id', NULL, '')`)).rejects.toThrow('foreign key')
    await store.migrate()
    await run(store, `DELETE FROM runs WHERE id = '${gone}'`)
    expect(await runsWithRows(store)).toEqual(TABLES.map(() => [kept]))
    const keys = await run(store, `SELECT 1 FROM pg_constraint WHERE contype = 'f'`)
    expect(keys).toEqual([])
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

  test.each(writers)('%s', async (_, status, write) => {
    const { store, url } = await migratedPostgres()
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
