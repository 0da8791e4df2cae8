// The traps of Postgres and of its driver (DESIGN §6), each sprung once.
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Env, iso, systemEnv } from '../../src/model/env.ts'
import { postgres } from '../../src/postgres/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { migratedStore, openStore } from '../sql/place.ts'
import { claimed, newRun, realEnv, recordStep } from '../sql/runs.ts'
import { DIALECTS, migratedPostgres, temporaryDatabase } from './place.ts'

describe('prepared statements', () => {
  test('what comes again is prepared once per connection, by name', async () => {
    const store = await onOneConnection()
    const claim = await claimed(store)
    for (let number = 1; number <= 5; number++) await store.runs.apply([recordStep(claim, number)])
    const rows = await query(store, `SELECT statement, generic_plans + custom_plans AS uses FROM pg_prepared_statements`)
    expect(rows.find(({ statement }) => String(statement).includes('moved AS'))?.uses).toBe('4')
    expect(rows.every(({ statement }) => !/create table|^begin/i.test(String(statement)))).toBe(true)
  })

  test('a table that was migrated meanwhile is no reason to fail', async () => {
    const store = await onOneConnection()
    const { runId } = await claimed(store)
    for (let i = 0; i < 3; i++) await store.runs.get(runId)
    await query(store, 'ALTER TABLE runs ADD COLUMN later TEXT')
    expect((await store.runs.get(runId))?.id).toBe(runId)
    expect((await store.runs.cancel(runId))?.outcome).toBe('requested')
  })

  test('the control: pg itself fails for it', async () => {
    const client = new pg.Client(await temporaryDatabase())
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('CREATE TABLE t (a INT)')
    const named = { name: 'n', text: 'SELECT * FROM t', values: [] }
    await client.query(named)
    await client.query('ALTER TABLE t ADD COLUMN b INT')
    await expect(client.query(named)).rejects.toThrow('cached plan must not change result type')
  })

  test('none with prepare: false', async () => {
    const store = await onOneConnection({ prepare: false })
    const { runId } = await claimed(store)
    for (let i = 0; i < 3; i++) await store.runs.get(runId)
    expect(await query(store, 'SELECT * FROM pg_prepared_statements')).toEqual([])
  })
})

describe.each(DIALECTS)('$name', ({ over }) => {
  async function setup() {
    const pool = new pg.Pool({ connectionString: await temporaryDatabase(), max: 3 })
    // Dropping its database may cut a connection that is just ending.
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    return migratedStore(over(pool))
  }

  test('a NUL or half of a surrogate pair in a message is kept readable, and in a value exact', async () => {
    const store = await setup()
    const payload = JSON.stringify({ nul: 'a\0b', half: '\ud800', text: '\\u0000' })
    const claim = await claimed(store, { payload })
    const line = { runId: claim.runId, stepName: null, level: 'info' as const, data: payload, timestamp: iso(0) }
    await store.logs.append([{ ...line, id: realEnv.id(), message: 'before \ud800 after \0 end' }])
    const step = recordStep(claim, 1, { output: payload, status: 'failed', error: 'a\0b', failure: payload })
    await store.runs.apply([{ ...step, logs: [{ ...line, id: realEnv.id(), message: '\udfff' }], progress: payload }])
    const logs = await store.logs.list(claim.runId)
    expect(logs.map(({ message }) => message)).toEqual(['before \uFFFD after \uFFFD end', '\uFFFD'])
    expect(logs.map(({ data }) => data)).toEqual([payload, payload])
    expect(await store.steps.list(claim.runId)).toMatchObject([{ output: payload, failure: payload, error: 'a\uFFFDb' }])
    expect(await store.runs.get(claim.runId)).toMatchObject({ payload, progress: payload })
    expect(await store.runs.get('a\0b')).toBe(null)
  })

  test('a read-only database can be read, and says so when it is written', async () => {
    const store = await setup()
    const { runId } = await claimed(store)
    const [row] = await query(store, 'SELECT current_database() AS name')
    await query(store, `ALTER DATABASE ${row?.name} SET default_transaction_read_only = on`)
    await query(
      store,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    const reader = openStore(postgres(new URL(`/${row?.name}`, (await migratedPostgres()).url).href))
    await rejects(reader.runs.create([newRun()]), 'store_readonly', 'create')
    expect((await reader.runs.get(runId))?.id).toBe(runId)
  })

  test('a batch of more than one statement is one transaction', async () => {
    const store = await setup()
    const runs = Array.from({ length: 2100 }, () => newRun())
    const broken = [...runs.slice(0, -1), newRun({ jobName: null as never })]
    await rejects(store.runs.create(broken), 'store_rejected', 'a batch with a broken run at its end')
    expect(await store.runs.list({ limit: 1 })).toEqual([])
    expect(await store.runs.create(runs)).toHaveLength(2100)
  })

  test('a closed store says so, and what was asked for before is done', async () => {
    const store = await setup()
    const last = [store.runs.create([newRun()]), store.runs.create([newRun()])]
    await Promise.all([store.close(), store.close()])
    for (const stored of await Promise.all(last)) expect(stored[0]?.created).toBe(true)
    await rejects(store.runs.get('x'), 'store_closed', 'a read')
    await rejects(store.runs.create([newRun()]), 'store_closed', 'a write')
  })

  test('an event cursor beyond every sequence finds nothing', async () => {
    const store = await setup()
    const { runId } = await claimed(store)
    expect(await store.events.list(runId, { after: Number.MAX_SAFE_INTEGER })).toEqual([])
  })
})

describe('the clock of the server decides', () => {
  test.each([-3_600_000, 3_600_000])('a worker whose clock is wrong by %i ms takes nothing from others', async (ms) => {
    const { store, url } = await migratedPostgres()
    const wrong = openStore(postgres(url), { env: skewed(ms) })
    const { runId } = await claimed(store)
    expect(await wrong.runs.reap({ maxRecoveries: 3 })).toEqual([])
    expect((await wrong.runs.probe(['job'])).stale).toBe(false)
    const [created] = await wrong.runs.create([newRun()])
    expect(Math.abs((created?.run.runAt ?? 0) - Date.now())).toBeLessThan(60_000)
    const [theirs] = await wrong.runs.claim({ jobNames: ['job'], tokens: ['wrong'], leaseMs: 30_000 })
    expect(Math.abs((theirs?.leaseExpiresAt ?? 0) - Date.now() - 30_000)).toBeLessThan(20_000)
    const ours = await store.runs.get(runId)
    expect(ours?.status).toBe('running')
    expect((await wrong.runs.probe(['job'])).nextInMs).toBeLessThan(31_000)
  })

  test('one statement has one time', async () => {
    const { store } = await migratedPostgres()
    await store.runs.create([newRun()])
    const [run] = await store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1000 })
    expect((run?.leaseExpiresAt ?? 0) - (run?.startedAt ?? 0)).toBe(1000)
  })
})

function skewed(ms: number): Env {
  const env = systemEnv()
  return { ...env, wall: () => env.wall() + ms }
}

async function onOneConnection(options: { prepare?: boolean } = {}): Promise<SqlStore> {
  return migratedStore(postgres(await temporaryDatabase(), { max: 1, ...options }))
}

async function query({ db }: SqlStore, sql: string): Promise<Record<string, unknown>[]> {
  return (await db.executeQuery(CompiledQuery.raw(sql))).rows as Record<string, unknown>[]
}
