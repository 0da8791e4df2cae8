// What a database can do to us, on a real SQLite file: each a DurablyError with a stable code and one helpful sentence;
// nothing is lost, the worker goes on with the rest.
import { writeFileSync } from 'node:fs'
import { MssqlDialect, MysqlDialect, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { MIGRATIONS } from '../../src/store/sql/migrations/index.ts'
import { listenTo, ofType } from './listening.ts'
import { setup } from './world.ts'

const anything = z.unknown()

async function worldOfTwoSteps() {
  const world = await setup('sqlite')
  const ran: string[] = []
  const job = world.durably.defineJob({ name: 'job', input: z.string() }, async (ctx, label) => {
    await ctx.run('one', () => void ran.push(`${label} one`))
    return ctx.run('two', () => {
      ran.push(`${label} two`)
      return 'x'.repeat(20_000)
    })
  })
  return {
    ...world,
    job,
    ran,
    heard: listenTo(world.durably),
    pragma: (text: string) => sql.raw(`PRAGMA ${text}`).execute(world.durably.db),
  }
}

describe('a database that cannot be used', () => {
  test('a newer schema than the code is left alone, with advice', async () => {
    const { durably, another } = await setup('sqlite')
    await durably.db.insertInto('schema_versions').values({ version: 99, applied_at: '2030-01-01T00:00:00.000Z' }).execute()
    await expect(another().migrate()).rejects.toMatchObject({
      code: 'schema_too_new',
      message: expect.stringMatching(/version 99, which needs code that knows version 99; this one knows \d+; update the package/),
    })
  })

  test('a file that is no database is refused by name', async () => {
    const { file } = await setup('sqlite')
    const bad = `${file}.txt`
    writeFileSync(bad, 'This is a letter, not a database. '.repeat(100))
    const durably = createDurably({ dialect: sqlite(bad) })
    await expect(durably.migrate()).rejects.toMatchObject({ code: 'store_corrupt', message: expect.stringContaining(bad) })
  })

  test('a path that does not exist is refused with what to do', async () => {
    const durably = createDurably({ dialect: sqlite('/nowhere/to/be/found.db') })
    await expect(durably.migrate()).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringContaining('create it first') })
  })

  test('an unknown dialect is refused: at once where it can be seen, else before its first use', async () => {
    const nobody = {} as never
    const seen = () => createDurably({ dialect: new MssqlDialect(nobody) })
    expect(seen).toThrow(expect.objectContaining({ code: 'unknown_dialect', message: expect.stringContaining('SqliteAdapter') }))
    const connection = {
      query: (_sql: string, _parameters: unknown, done: (error: Error) => void) =>
        done(new Error('FUNCTION sqlite_version does not exist')),
      release() {},
    }
    const pool = { getConnection: (done: (error: unknown, connection: unknown) => void) => done(null, connection), end() {} }
    const mysql = createDurably({ dialect: new MysqlDialect({ pool: pool as never }) })
    await expect(mysql.migrate()).rejects.toMatchObject({ code: 'unknown_dialect' })
  })

  test('without migrate() every call says what to do, and a worker that was started early goes on after it', async () => {
    const { file, env } = await setup('sqlite')
    const durably = createDurably({ dialect: sqlite(`${file}.new`), env })
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    await expect(job.trigger(null)).rejects.toMatchObject({ code: 'not_migrated', message: expect.stringContaining('migrate()') })
    await expect(durably.getRuns()).rejects.toMatchObject({ code: 'not_migrated' })
    durably.start()
    await env.advance(5000)
    expect(ofType(heard, 'worker:error')[0]).toMatchObject({ cause: { code: 'not_migrated' } })
    await durably.migrate()
    const { id } = await job.trigger(null)
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    await durably[Symbol.asyncDispose]()
  })

  test('migrate() is idempotent, and safe when several instances call it at once (000 §初期化)', async () => {
    const { file, env, within } = await setup('sqlite')
    const dialect = () => sqlite(`${file}.new`, { busyTimeoutMs: 1 })
    const instances = Array.from({ length: 5 }, () => createDurably({ dialect: dialect(), env }))
    await within(5000, Promise.all(instances.flatMap((instance) => [instance.migrate(), instance.migrate()])))
    expect(await instances[0]?.db.selectFrom('schema_versions').select('version').execute()).toEqual(
      MIGRATIONS.map((_, i) => ({ version: i + 1 })),
    )
    for (const instance of instances) await instance[Symbol.asyncDispose]()
  })
})

describe('a database in trouble', () => {
  test('a full disk holds the run up, reports store_full, and the run completes when there is room', async () => {
    const { durably, env, job, ran, heard, pragma } = await worldOfTwoSteps()
    const { id } = await job.trigger('a')
    await pragma('max_page_count = 1')
    durably.start()
    await env.advance(5000)
    expect(ofType(heard, 'worker:error').map(({ cause }) => (cause as { code: string }).code)).toContain('store_full')
    await expect(job.trigger('x'.repeat(100_000))).rejects.toMatchObject({ code: 'store_full', message: expect.stringContaining('full') })
    await pragma('max_page_count = 100000')
    await env.advance(5000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
    expect(ran).toEqual(['a one', 'a two'])
  })

  test('a database that became read-only is reported, and goes on when it can be written again', async () => {
    const { durably, env, job, heard, pragma } = await worldOfTwoSteps()
    const { id } = await job.trigger('a')
    await pragma('query_only = ON')
    await expect(job.trigger('b')).rejects.toMatchObject({ code: 'store_readonly', message: expect.stringContaining('cannot be written') })
    durably.start()
    await env.advance(5000)
    expect(ofType(heard, 'worker:error')[0]).toMatchObject({ cause: { code: 'store_readonly' } })
    expect(await job.getRun(id)).toMatchObject({ status: 'pending' })
    await pragma('query_only = OFF')
    await env.advance(5000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a file that another process locks is waited for without blocking; after 5 s the caller hears store_busy', async () => {
    const { durably, another, env, job, soon, within } = await worldOfTwoSteps()
    const locker = another()
    await sql`BEGIN IMMEDIATE`.execute(locker.db)
    const patient = job.trigger('a')
    await env.advance(3000)
    await sql`COMMIT`.execute(locker.db)
    expect(await within(1000, patient)).toMatchObject({ status: 'pending' })
    await sql`BEGIN IMMEDIATE`.execute(locker.db)
    const refused = job.trigger('b').catch((error: unknown) => error)
    await env.advance(6000)
    expect(await refused).toMatchObject({ code: 'store_busy', message: expect.stringContaining('locked') })
    expect(await soon(durably.getRuns())).toHaveLength(1)
    await sql`COMMIT`.execute(locker.db)
  })

  test('a lock of 8 s in the middle of a run fails nothing', async () => {
    const { durably, another, env, job, ran } = await worldOfTwoSteps()
    const { id } = await job.trigger('a')
    const locker = another()
    await sql`BEGIN IMMEDIATE`.execute(locker.db)
    durably.start()
    await env.advance(8000)
    await sql`COMMIT`.execute(locker.db)
    await env.advance(5000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
    expect(ran).toEqual(['a one', 'a two'])
  })
})

describe('an unreadable row', () => {
  test('a payload that is no JSON fails that run with reason `unreadable`; the others go on', async () => {
    const { durably, job, ran, soon, store } = await worldOfTwoSteps()
    const { id } = await job.trigger('bad')
    const fine = await job.trigger('fine')
    await durably.db.updateTable('runs').set({ payload: '{"not json' }).where('id', '=', id).execute()
    await soon(durably.processUntilIdle())
    expect(await store.runs.get(id)).toMatchObject({ status: 'failed', reason: 'unreadable' })
    expect(await job.getRun(fine.id)).toMatchObject({ status: 'completed' })
    expect(ran).toEqual(['fine one', 'fine two'])
    await expect(job.getRun(id)).rejects.toMatchObject({
      code: 'row_unreadable',
      message: expect.stringMatching(/column payload.*; repair the row or delete the run$/),
    })
    await durably.deleteRun(id)
  })

  test.each(['output', 'lease_generation'] as const)(
    'a recorded step whose %s cannot be read fails its run, and is not run again',
    async (column) => {
      const { durably, job, ran, soon, store } = await worldOfTwoSteps()
      const { id } = await job.trigger('a')
      await soon(durably.processUntilIdle())
      await sql`UPDATE runs SET status = 'failed' WHERE id = ${id}`.execute(durably.db)
      await sql`UPDATE steps SET ${sql.ref(column)} = ${'{"not a value'} WHERE run_id = ${id} AND name = 'two'`.execute(durably.db)
      await durably.retry(id)
      const other = await job.trigger('b')
      await soon(durably.processUntilIdle())
      expect(await store.runs.get(id)).toMatchObject({
        status: 'failed',
        reason: 'unreadable',
        error: expect.stringMatching(`column ${column} .*; repair the row or delete the run$`),
      })
      expect(await job.getRun(other.id)).toMatchObject({ status: 'completed' })
      expect(ran).toEqual(['a one', 'a two', 'b one', 'b two'])
      await durably.deleteRun(id)
    },
  )

  test('an event that no run has ends a subscription by name', async () => {
    const { durably, job } = await worldOfTwoSteps()
    const { id } = await job.trigger('bad')
    await sql`UPDATE run_events SET event_type = 'worker:lead' WHERE run_id = ${id}`.execute(durably.db)
    await expect(durably.subscribe(id)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'row_unreadable',
      message: `run ${id}: no run has events of type worker:lead; delete the row of the event, or the run`,
    })
  })

  test.each(['many', new Uint8Array([255, 0])])(
    'a run whose own columns cannot be read is reported by name, and does not hold up the others: %s',
    async (spoiled) => {
      const { durably, env, job, heard } = await worldOfTwoSteps()
      const { id } = await job.trigger('bad')
      const fine = await job.trigger('fine')
      await sql`UPDATE runs SET recoveries = ${spoiled} WHERE id = ${id}`.execute(durably.db)
      durably.start()
      await env.advance(5000)
      expect(await job.getRun(fine.id)).toMatchObject({ status: 'completed' })
      expect(ofType(heard, 'worker:error')[0]).toMatchObject({ error: expect.stringContaining(id), cause: { code: 'row_unreadable' } })
      await sql`UPDATE runs SET recoveries = 0 WHERE id = ${id}`.execute(durably.db)
      await env.advance(31_000)
      expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
    },
  )
})
