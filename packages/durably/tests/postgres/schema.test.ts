// `postgres(url, { schema })`: several stores in one database, each in a schema of its own.
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { postgres } from '../../src/postgres/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { openStore } from '../sql/place.ts'
import { run } from '../sql/places.ts'
import { newRun } from '../sql/runs.ts'
import { temporaryDatabase } from './place.ts'

const RELATIONS = `SELECT nspname AS schema, count(*)::int AS relations FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname !~ '^pg_|^information_schema$' GROUP BY nspname ORDER BY nspname`

describe('postgres(url, { schema })', () => {
  test('two schemas of one database, and the tables outside of both, are separate stores', { timeout: 60_000 }, async () => {
    const url = await temporaryDatabase()
    const stores = [postgres(url, { schema: 'one' }), postgres(url, { schema: 'Two "2"' }), postgres(url)].map((dialect) =>
      openStore(dialect),
    )
    await Promise.all(stores.map((store) => store.migrate()))
    const [one, two, plain] = stores as [(typeof stores)[0], (typeof stores)[0], (typeof stores)[0]]
    await one.runs.create([newRun({ idempotencyKey: 'k', concurrencyKey: 'c' })])
    await two.runs.create([newRun({ idempotencyKey: 'k', concurrencyKey: 'c' }), newRun()])
    expect(await Promise.all(stores.map(async (store) => (await store.runs.list({})).length))).toEqual([1, 2, 0])
    const claim = { jobNames: ['job'], tokens: ['t', 'u', 'v'], leaseMs: 10_000 }
    expect((await two.runs.claim(claim)).length).toBe(2)
    expect((await one.runs.claim({ ...claim, tokens: ['t'] })).length).toBe(1)
    const found = await run(plain, RELATIONS)
    expect(found.map(({ schema }) => schema)).toEqual(['Two "2"', 'one', 'public'])
    expect(new Set(found.map(({ relations }) => relations)).size).toBe(1)
  })

  test('the search_path of a connection does not matter, as behind a pooler in transaction mode', async () => {
    const url = await temporaryDatabase()
    const pool = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=nowhere' })
    onTestFinished(() => pool.end())
    const store = openStore(postgres(pool, { schema: 'durably' }))
    await store.migrate()
    await store.runs.create([newRun()])
    expect(await store.runs.list({})).toHaveLength(1)
  })

  test('jobs run in both schemas, and a process is woken by changes of its own schema', { timeout: 30_000 }, async () => {
    const url = await temporaryDatabase()
    const instances = ['one', 'two'].map((schema) => {
      const open = () => createDurably({ dialect: postgres(url, { schema }), pollingInterval: 600_000 })
      const [caller, worker] = [open(), open()]
      const define = (durably: typeof caller) =>
        durably.defineJob({ name: 'where', input: z.null(), output: z.string() }, (ctx) => ctx.run('say', () => schema))
      define(worker)
      onTestFinished(async () => {
        await Promise.all([caller, worker].map((durably) => durably[Symbol.asyncDispose]()))
      })
      return { worker, job: define(caller) }
    })
    for (const { worker } of instances) {
      await worker.migrate()
      worker.start()
    }
    const outputs = await Promise.all(instances.map(async ({ job }) => (await job.triggerAndWait(null)).output))
    expect(outputs).toEqual(['one', 'two'])
  })

  test('a schema that is missing and may not be created is named, with what to do', async () => {
    const url = await temporaryDatabase()
    const admin = openStore(postgres(url))
    const name = `poor_${new URL(url).pathname.slice(-8)}`
    await run(admin, `CREATE ROLE ${name} LOGIN`)
    const poor = new URL(url)
    poor.username = name
    const store = openStore(postgres(poor.href, { schema: 'durably' }))
    const error = await rejects(store.migrate(), 'store_readonly', 'migrate')
    expect(error.message).toContain('the schema "durably" does not exist, and this user may not create it')
    await run(admin, `CREATE SCHEMA durably AUTHORIZATION ${name}`)
    await store.migrate()
    await store.runs.create([newRun()])
    await run(admin, 'DROP SCHEMA durably CASCADE')
    await run(admin, `DROP ROLE ${name}`)
  })

  test('before migrate() a verb says what to do', async () => {
    const store = openStore(postgres(await temporaryDatabase(), { schema: 'durably' }))
    await rejects(store.runs.get('x'), 'not_migrated', 'a read')
  })

  test.each(['', 'pg_mine', 'a\0b', 'x'.repeat(64), 5])('%j is no schema', (schema) => {
    expect(() => postgres('postgres://localhost/app', { schema: schema as string })).toThrow('schema must be a text of 1 to 63 bytes')
  })

  test('the foreign tables of a schema are not touched', async () => {
    const url = await temporaryDatabase()
    const store = openStore(postgres(url, { schema: 'theirs' }))
    await store.db.executeQuery(CompiledQuery.raw('CREATE SCHEMA theirs'))
    await store.db.executeQuery(CompiledQuery.raw('CREATE TABLE theirs.logs (line TEXT)'))
    await rejects(store.migrate(), 'store_rejected', 'migrate')
    expect(await run(store, RELATIONS)).toEqual([{ schema: 'theirs', relations: 1 }])
  })
})

// Postgres then changes the row in its place and writes no index ("heap-only tuple"), unless the page is full.
test('no index has a column that a step or a heartbeat changes', async () => {
  const store = openStore(postgres(await temporaryDatabase()))
  await store.migrate()
  const indexes = await run(store, `SELECT indexdef FROM pg_indexes WHERE tablename = 'runs'`)
  const changed =
    /lease_expires_at|lease_writes|heartbeat_at|updated_at|current_step_index|recoveries|last_event_sequence|progress|streams|effects|continuation/
  expect(indexes.length).toBeGreaterThan(10)
  expect(indexes.filter(({ indexdef }) => changed.test(String(indexdef)))).toEqual([])
})
