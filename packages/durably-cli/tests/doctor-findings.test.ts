// Each finding of `durably doctor` on a database that is really in that state, and its remedy, which is carried out where a test can.
import { setTimeout as pause } from 'node:timers/promises'

import { type Durably, retry } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import { schemaState } from '@coji/durably/schema'
import { sqlite } from '@coji/durably/sqlite'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { deafProxyTo } from '../../durably/tests/postgres/deaf-proxy.ts'
import { startPostgres } from '../../durably/tests/postgres/server.ts'
import { checkConnections } from '../src/doctor/connections.ts'
import { type Finding, patientOf } from '../src/doctor/finding.ts'
import { cli, openAt, PLACES } from './cli.ts'

const anything = z.unknown()
const LATE_MS = 600_000
const PATIENCE = { timeout: 20_000 }

async function troubles(db: string): Promise<Record<string, Finding>> {
  const { out } = await cli(['doctor', '--json', '--db', db])
  const findings = JSON.parse(out) as Finding[]
  return Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map((finding) => [finding.check, finding]))
}

/** Fills the table of runs with copies of one run. */
async function copies(durably: Durably, id: string, count: number): Promise<void> {
  const row = await durably.db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const columns = Object.keys(row).filter((column) => column !== 'id')
  const names = sql.join(columns.map((column) => sql.ref(column)))
  await sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(count)})
    INSERT INTO runs (id, ${names}) SELECT 'copy' || n.i, ${names} FROM n, runs WHERE id = ${id}`.execute(durably.db)
}

describe.each(PLACES)('on $name', { timeout: 60_000 }, ({ create }) => {
  test('no tables: durably migrate makes them', async () => {
    const db = await create()
    await (await openRaw(db))('CREATE TABLE of_somebody (id INTEGER)')
    const found = await troubles(db)
    expect(Object.keys(found)).toEqual(['schema'])
    expect(found.schema).toMatchObject({ state: 'bad', what: 'there are no tables', remedy: expect.stringMatching(/^durably migrate/) })
    expect((await cli(['migrate', '--db', db])).code).toBe(0)
    expect(await troubles(db)).toEqual({})
  })

  test('tables of an older version: durably migrate updates them', async () => {
    const db = await create()
    const dialect = db.startsWith('postgres') ? postgres(db) : sqlite(db)
    const { pending, known } = await schemaState({ dialect })
    const versions = pending.flatMap((statement, i) => (/INSERT INTO "?schema_versions/i.test(statement) ? [i] : []))
    const client = await openRaw(db)
    for (const statement of pending.slice(0, versions.at(-1))) await client(statement)
    const { schema } = await troubles(db)
    expect(schema).toMatchObject({ state: 'bad', what: `version ${known - 1}, this program needs ${known}` })
    expect(schema?.remedy).toMatch(/^durably migrate --db .*\nwith --print it shows the statements first$/)
    expect((await cli(['migrate', '--db', db])).code).toBe(0)
    expect(await troubles(db)).toEqual({})
  })

  test('a run that was asked to stop and does not, and one that waits for a decision', async () => {
    const db = await create()
    const durably = await openAt(db)
    let end = () => {}
    const endless = () =>
      new Promise<void>((resolve) => {
        end = resolve
      })
    onTestFinished(() => end())
    const deaf = durably.defineJob({ name: 'deaf', input: anything }, (ctx) => ctx.run('long', endless))
    const unsure = durably.defineJob({ name: 'unsure', input: anything }, (ctx) =>
      ctx.run('charge', { effect: 'once', timeout: 20, retry: retry.fixed({ maxAttempts: 2 }) }, ({ signal }) =>
        pause(LATE_MS, null, { signal }),
      ),
    )
    const { id: charged } = await unsure.trigger(null)
    const decided = new Promise((resolve) => durably.on('run:wait', resolve))
    durably.start()
    await decided
    await vi.waitFor(async () => expect(await durably.getRun(charged)).toMatchObject({ waitingFor: { kind: 'decision' } }), PATIENCE)
    const { id } = await deaf.trigger(null)
    await new Promise((resolve) => durably.on('step:start', ({ stepName }) => stepName === 'long' && resolve(null)))
    await durably.cancel(id)
    await durably.db
      .updateTable('runs')
      .set({ cancel_requested_at: Date.now() - LATE_MS })
      .where('id', '=', id)
      .execute()
    const found = await troubles(db)
    expect(found['cancelled runs']).toMatchObject({
      state: 'warn',
      what: expect.stringContaining(id),
      remedy: expect.stringContaining('ctx.signal'),
    })
    expect(found.decisions).toMatchObject({ state: 'bad', what: expect.stringContaining(charged) })
    expect(found.decisions?.remedy).toContain(`durably decide ${charged} charge --done`)
    expect((await cli(['decide', charged, 'charge', '--done', '{"id":1}', '--db', db])).code).toBe(0)
    expect(await troubles(db)).not.toHaveProperty('decisions')
  })

  test('runs that wait although workers have their job', async () => {
    const db = await create()
    const durably = await openAt(db)
    const { cluster } = await import('@coji/durably/cluster')
    const busy = durably.defineJob({ name: 'busy', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => pause(LATE_MS, null, { signal })),
    )
    cluster(durably)
    const begun = new Promise((resolve) => durably.on('step:start', resolve))
    durably.start()
    await busy.trigger(null)
    await begun
    const { id } = await busy.trigger(null)
    await durably.db
      .updateTable('runs')
      .set({ run_at: Date.now() - LATE_MS, updated_at: new Date(Date.now() - LATE_MS).toISOString() })
      .where('id', '=', id)
      .execute()
    await vi.waitFor(async () => expect((await durably.workers.list()).length).toBe(1), PATIENCE)
    const { 'due runs': due } = await troubles(db)
    expect(due).toMatchObject({ state: 'warn', what: expect.stringContaining('although workers have these jobs') })
    expect(due?.remedy).toContain('--concurrency')
    expect(due?.remedy).toContain(`durably explain ${id} --db `)
    expect((await cli(['explain', id, '--db', db])).out).toMatch(
      /is due, and has a worker in the register: ".*", since .*\nA worker takes it when it has a free slot\./,
    )
    await durably.stop({ timeout: 0 })
  })

  test('clocks that differ', async () => {
    const db = await create()
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    await job.trigger(null)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    const { clock } = await troubles(db)
    expect(clock).toMatchObject({ state: 'warn', what: expect.stringMatching(/(60|59) s/), remedy: expect.stringContaining('NTP') })
  })

  test('more old runs than anybody wants: durably purge removes them', async () => {
    const db = await create()
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    const { id } = await job.trigger(null)
    await durably.processUntilIdle()
    await durably.db
      .updateTable('runs')
      .set({ finished_at: Date.now() - 40 * 86_400_000 })
      .execute()
    await copies(durably, id, 100_000)
    const { 'old runs': old } = await troubles(db)
    expect(old).toMatchObject({ state: 'warn', remedy: expect.stringContaining('durably purge --older-than 30d') })
  })
})

describe('bloat', { timeout: 60_000 }, () => {
  test('of a SQLite file that is mostly empty: VACUUM', async () => {
    const db = (await PLACES[0]?.create()) ?? ''
    await openAt(db)
    const raw = await openRaw(db)
    await raw('CREATE TABLE ballast (data BLOB)')
    for (let i = 0; i < 60; i++) await raw('INSERT INTO ballast VALUES (zeroblob(1048576))')
    await raw('DELETE FROM ballast')
    await raw('PRAGMA wal_checkpoint(TRUNCATE)')
    expect((await troubles(db)).bloat).toMatchObject({ state: 'warn', remedy: `stop the workers and run: sqlite3 ${db} VACUUM` })
    await raw('VACUUM')
    expect(await troubles(db)).toEqual({})
  })

  test('of a write-ahead log that a reader keeps from being written back', async () => {
    const db = (await PLACES[0]?.create()) ?? ''
    await openAt(db)
    const [reader, writer] = [await openRaw(db), await openRaw(db)]
    await reader('BEGIN')
    await reader('SELECT count(*) FROM runs')
    await writer('CREATE TABLE ballast (data BLOB)')
    for (let i = 0; i < 60; i++) {
      await writer('DELETE FROM ballast')
      await writer('INSERT INTO ballast VALUES (zeroblob(1048576))')
    }
    expect((await troubles(db)).bloat).toMatchObject({
      state: 'warn',
      remedy: expect.stringContaining('a reader keeps a transaction open'),
    })
    await reader('COMMIT')
    await writer('PRAGMA wal_checkpoint(TRUNCATE)')
    expect((await troubles(db)).bloat).toBeUndefined()
  })

  test('of a Postgres table with more dead rows than live ones: VACUUM', async () => {
    const db = (await PLACES[1]?.create()) ?? ''
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    const { id } = await job.trigger(null)
    const client = await openRaw(db)
    await client(`INSERT INTO logs (id, run_id, level, message, timestamp)
      SELECT 'l' || i, '${id}', 'info', repeat(md5(i::text), 55), 'now' FROM generate_series(1, 30000) AS i`)
    await client(`DELETE FROM logs WHERE id LIKE 'l1%' OR id LIKE 'l2%'`)
    await client('SELECT pg_stat_force_next_flush()')
    const { bloat } = await troubles(db)
    expect(bloat).toMatchObject({ state: 'warn', what: 'logs: more dead rows than live ones' })
    expect(bloat?.remedy).toMatch(/^VACUUM \(ANALYZE\) logs;/)
    await client('VACUUM (ANALYZE) logs')
    await client('SELECT pg_stat_force_next_flush()')
    expect(await troubles(db)).toEqual({})
  })
})

describe('connections and notifications of Postgres', { timeout: 60_000 }, () => {
  test('a pooler that delivers no notifications', async () => {
    const db = (await PLACES[1]?.create()) ?? ''
    await openAt(db)
    const { url } = await deafProxyTo(db)
    const { notifications } = await troubles(url)
    expect(notifications).toMatchObject({ state: 'warn', what: expect.stringContaining('a pooler in transaction mode is between') })
    expect(notifications?.remedy).toContain('listenUrl')
  })

  test('a transaction that somebody left open', async () => {
    // A server of its own: transactions of other tests would count too.
    const server = await startPostgres({ own: true })
    onTestFinished(() => server.stop())
    const db = server.url
    const durably = await openAt(db)
    const client = new pg.Client(db)
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('BEGIN')
    const place = { kind: 'postgres' as const, at: db, shown: db, schema: undefined, tablePrefix: undefined, options: '', now: Date.now }
    const seenAt = (nowMs: number) => checkConnections(patientOf(durably, place, nowMs))
    expect(await seenAt(Date.now())).toMatchObject({ state: 'ok' })
    const later = await seenAt(Date.now() + 120_000)
    expect(later).toMatchObject({ state: 'warn', what: expect.stringContaining('1 sits in a transaction for more than 60 s') })
    expect(later.remedy).toContain('idle_in_transaction_session_timeout')
  })

  test('a server whose connections are nearly all taken', async () => {
    const server = await startPostgres({ own: true, settings: { max_connections: '20' } })
    onTestFinished(() => server.stop())
    expect((await cli(['migrate', '--db', server.url])).code).toBe(0)
    const clients = Array.from({ length: 14 }, () => new pg.Client(server.url))
    onTestFinished(() => Promise.all(clients.map((client) => client.end())).then(() => {}))
    for (const client of clients) {
      client.on('error', () => {})
      await client.connect()
    }
    const { connections } = await troubles(server.url)
    expect(connections).toMatchObject({ state: 'warn', what: expect.stringMatching(/^\d+ of 17 are used/) })
    expect(connections?.remedy).toContain('raise max_connections')
  })
})

/** Statements on a connection of its own, past Durably. */
async function openRaw(db: string): Promise<(statement: string) => Promise<unknown>> {
  if (!db.startsWith('postgres')) {
    const raw = new Kysely({ dialect: sqlite(db) })
    onTestFinished(() => raw.destroy())
    return (statement) => sql.raw(statement).execute(raw)
  }
  const client = new pg.Client(db)
  await client.connect()
  onTestFinished(() => client.end())
  return (statement) => client.query(statement)
}
