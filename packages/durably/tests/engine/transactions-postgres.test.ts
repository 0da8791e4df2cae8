// ctx.transaction and trigger({ tx }) on a real Postgres: short; the long form is on SQLite.
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import type { Transaction } from '../../src/model/transaction.ts'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { gate } from './gate.ts'

type Bookings = Kysely<{ bookings: { note: string } }>

async function setup(options: Pick<DurablyOptions, 'concurrency' | 'staleThreshold' | 'heartbeatInterval'> = {}) {
  const url = await temporaryDatabase()
  const durably = createDurably({ dialect: postgres(url), pollingInterval: 50, ...options })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  const db = durably.db as unknown as Bookings
  await sql`CREATE TABLE bookings (note TEXT NOT NULL UNIQUE)`.execute(db)
  return { durably, db, bookings: async () => (await db.selectFrom('bookings').selectAll().execute()).map(({ note }) => note) }
}

function defineBook(durably: Durably, after: (trx: Transaction) => Promise<unknown> = async () => {}) {
  return durably.defineJob({ name: 'book', input: z.string() }, (ctx, note) =>
    ctx.transaction('book', async (trx) => {
      await trx.insertInto('bookings').values({ note }).execute()
      await after(trx)
      return note
    }),
  )
}

test('rows and step commit together, and are undone together', async () => {
  const { durably, bookings } = await setup()
  const job = defineBook(durably)
  durably.start()
  const first = await job.triggerAndWait('one')
  expect(first.output).toBe('one')
  const second = await job.triggerAndWait('one').catch((error) => error)
  expect(second).toMatchObject({ code: 'run_failed', message: expect.stringContaining('unique') })
  expect(await bookings()).toEqual(['one'])
  expect(await durably.getSteps(first.id)).toMatchObject([{ status: 'completed', output: 'one' }])
  expect(await durably.getSteps(second.runId)).toMatchObject([{ status: 'failed' }])
})

test.each([
  'COMMIT',
  'ROLLBACK',
  'ABORT',
  'START TRANSACTION',
  'SELECT 1; COMMIT',
  'SELECT 1; ROLLBACK',
  "SELECT ';' -- ' \n; /* so */ END",
  "PREPARE TRANSACTION 'x'",
  "SELECT E'\\''; COMMIT; --'",
  "SELECT E'a'\n'\\''; COMMIT; --'",
  'SELECT 1 /* /* */ */; COMMIT',
])('a raw %s is refused, the step fails, and nothing of it stays', async (statement) => {
  const { durably, bookings } = await setup()
  const job = defineBook(durably, (trx) => sql.raw(statement).execute(trx))
  durably.start()
  const error = await job.triggerAndWait('one').catch((error) => error)
  expect(error).toMatchObject({ code: 'run_failed', cause: { code: 'transaction_open' } })
  expect(await bookings()).toEqual([])
})

test('words in comments and strings, and the END of a function, end nothing', async () => {
  const { durably, bookings } = await setup()
  const job = defineBook(durably, async (trx) => {
    await sql.raw('SELECT 1 /* /* */; COMMIT; */').execute(trx)
    await sql.raw("SELECT E'it\\'s; COMMIT', $a$; ROLLBACK$a$").execute(trx)
    await sql.raw('CREATE FUNCTION two() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END; SELECT two()').execute(trx)
    throw new Error('sold out')
  })
  durably.start()
  const error = await job.triggerAndWait('one').catch((error) => error)
  expect(error).toMatchObject({ code: 'run_failed', cause: { message: 'sold out' } })
  expect(await bookings()).toEqual([])
})

test('after a query that failed nothing passes, and nothing stays', async () => {
  const { durably, bookings } = await setup()
  const codes: unknown[] = []
  const job = defineBook(durably, async (trx) => {
    const later = (note: string) => trx.insertInto('bookings').values({ note }).execute()
    const results = await Promise.allSettled([sql`INSERT INTO bookings VALUES (NULL)`.execute(trx), later('two'), later('three')])
    for (const result of results) codes.push(Reflect.get(Object(Reflect.get(result, 'reason')), 'code'))
  })
  durably.start()
  const error = await job.triggerAndWait('one').catch((error) => error)
  expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('aborted') })
  expect(codes).toEqual(['23502', '25P02', '25P02'])
  expect(await bookings()).toEqual([])
})

test('calls of the instance inside are refused, as on SQLite; with tx a trigger is part of it', async () => {
  const { durably } = await setup()
  const codes: unknown[] = []
  const job = defineBook(durably, async (trx) => {
    for (const call of [() => durably.getRun('x'), () => other.trigger(null)])
      codes.push(await call().catch((error: { code: string }) => error.code))
    await other.trigger(null, { tx: trx })
  })
  const other = durably.defineJob({ name: 'other', input: z.null() }, async () => {})
  durably.start()
  await job.triggerAndWait('one')
  expect(codes).toEqual(['transaction_open', 'transaction_open'])
  expect(await other.getRuns()).toHaveLength(1)
})

test('a connection that the server cuts in the middle: booked once', async () => {
  const { durably, bookings } = await setup()
  let calls = 0
  const job = defineBook(durably, async (trx) => {
    if (++calls === 1) await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(trx).catch(() => {})
  })
  durably.start()
  expect((await job.triggerAndWait('one')).output).toBe('one')
  expect(await bookings()).toEqual(['one'])
})

test('trigger({ tx }): the run exists when the transaction commits, and not if it does not', async () => {
  const { durably, db, bookings } = await setup()
  const job = defineBook(durably)
  durably.start()
  const rolledBack = db.transaction().execute(async (tx) => {
    await job.trigger('no', { tx })
    throw new Error('no')
  })
  await expect(rolledBack).rejects.toThrow('no')
  const { id } = await db.transaction().execute((tx) => job.trigger('yes', { tx }))
  await expect.poll(async () => (await durably.getRun(id))?.status).toBe('completed')
  expect(await bookings()).toEqual(['yes'])
  expect(await durably.getRuns()).toHaveLength(1)
})

test('trigger({ tx }) in one that is over, that failed or that is of another database: refused for good', async () => {
  const { durably, db } = await setup()
  const job = defineBook(durably)
  const refusal = (message: string) => ({ code: 'invalid_argument', message: expect.stringMatching(new RegExp(`^tx must .*${message}`)) })
  const committed = await db.transaction().execute(async (tx) => tx)
  await expect(job.trigger('no', { tx: committed })).rejects.toMatchObject(refusal('already committed'))
  const failed = db.transaction().execute(async (tx) => {
    await sql`SELECT nothing`.execute(tx).catch(() => {})
    await job.trigger('no', { tx })
  })
  await expect(failed).rejects.toMatchObject(refusal('transaction is aborted'))
  const elsewhere = new Kysely({ dialect: sqlite(':memory:') })
  onTestFinished(() => elsewhere.destroy())
  const stored = elsewhere.transaction().execute((tx) => job.trigger('no', { tx }))
  await expect(stored).rejects.toMatchObject(refusal('syntax error'))
  expect(await durably.getRuns()).toEqual([])
})

test('trigger({ tx }) with what is no transaction is refused', async () => {
  const { durably, db } = await setup()
  const job = defineBook(durably)
  const refusal = { code: 'invalid_argument', message: expect.stringMatching(/^tx must be a transaction of Kysely/) }
  for (const tx of [db, durably.db, {}]) await expect(job.trigger('no', { tx })).rejects.toMatchObject(refusal)
  await db.connection().execute((tx) => expect(job.trigger('no', { tx })).rejects.toMatchObject(refusal))
  expect(await durably.getRuns()).toEqual([])
})

test('trigger({ tx }) that loses a conflict: the error says to try the whole transaction again, and that works', async () => {
  const { durably, db } = await setup()
  const job = defineBook(durably)
  const triggered: unknown[] = []
  durably.on('run:trigger', ({ runId }) => triggered.push(runId))
  const lost = db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      await sql`SELECT 1`.execute(tx)
      // Another process triggers the same after this transaction has begun.
      const { id } = await job.trigger('one', { idempotencyKey: 'k' })
      await durably.cancel(id)
      await job.trigger('two', { tx, idempotencyKey: 'new' })
      await job.trigger('one', { tx, idempotencyKey: 'k' })
    })
  await expect(lost).rejects.toMatchObject({
    code: 'store_busy',
    message: expect.stringMatching(
      /^roll tx back and try the whole transaction again: another transaction is in the way: could not serialize/,
    ),
    cause: { code: '40001' },
  })
  const runs = await durably.getRuns()
  expect(runs).toMatchObject([{ idempotencyKey: 'k' }])
  const again = await db.transaction().execute((tx) => job.trigger('two', { tx, idempotencyKey: 'new' }))
  expect(again.idempotencyKey).toBe('new')
  expect(triggered).toEqual(runs.map(({ id }) => id))
})

test('trigger({ tx: trx }) that meets a deadlock inside ctx.transaction: its function is called again', async () => {
  const { durably } = await setup({ concurrency: 2 })
  const bothHoldOne = gate()
  let calls = 0
  const mail = durably.defineJob({ name: 'mail', input: z.null() }, async () => {})
  const job = durably.defineJob({ name: 'twice', input: z.array(z.string()) }, (ctx, keys) =>
    ctx.transaction('both', async (trx) => {
      for (const idempotencyKey of keys) {
        await mail.trigger(null, { tx: trx, idempotencyKey })
        if (++calls === 2) bothHoldOne.open()
        await bothHoldOne.opened
      }
    }),
  )
  durably.start()
  await Promise.all([job.triggerAndWait(['a', 'b']), job.triggerAndWait(['b', 'a'])])
  expect(calls).toBeGreaterThan(4)
  expect(await mail.getRuns()).toHaveLength(2)
})

test('two that wait for each other: the one that Postgres undoes is run again, and both are booked', async () => {
  const { durably, db } = await setup({ concurrency: 2 })
  await sql`CREATE TABLE accounts (name TEXT PRIMARY KEY, moves INTEGER NOT NULL DEFAULT 0)`.execute(db)
  await sql`INSERT INTO accounts VALUES ('a'), ('b')`.execute(db)
  const bothHoldOne = gate()
  let calls = 0
  const job = durably.defineJob({ name: 'move', input: z.array(z.string()) }, (ctx, names) =>
    ctx.transaction('move', async (trx) => {
      for (const name of names) {
        await sql`UPDATE accounts SET moves = moves + 1 WHERE name = ${name}`.execute(trx)
        if (++calls === 2) bothHoldOne.open()
        await bothHoldOne.opened
      }
    }),
  )
  const errors: unknown[] = []
  durably.on('worker:error', ({ cause }) => errors.push(Reflect.get(Object(cause), 'code')))
  durably.start()
  await Promise.all([job.triggerAndWait(['a', 'b']), job.triggerAndWait(['b', 'a'])])
  const { rows } = await sql`SELECT * FROM accounts ORDER BY name`.execute(db)
  expect(rows).toEqual([
    { name: 'a', moves: 2 },
    { name: 'b', moves: 2 },
  ])
  expect(errors).toContain('40P01')
})

test('a conflict that does not end fails the step with what the database said', async () => {
  const { durably, bookings } = await setup()
  let calls = 0
  const job = defineBook(durably, async (trx) => {
    calls++
    await sql`DO $$ BEGIN RAISE EXCEPTION 'could not serialize' USING ERRCODE = '40001'; END $$`.execute(trx)
  })
  durably.start()
  const error = await job.triggerAndWait('one').catch((error) => error)
  expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('could not serialize') })
  expect(calls).toBe(10)
  expect(await durably.getSteps(error.runId)).toMatchObject([{ status: 'failed' }])
  expect(await bookings()).toEqual([])
})

test('a step that throws beside it fails the run at once: the signal of its function aborts, and nothing of it stays', async () => {
  const { durably, bookings } = await setup()
  const job = durably.defineJob({ name: 'job', input: z.string() }, (ctx, note) =>
    Promise.all([
      ctx.transaction('book', async (trx) => {
        await trx.insertInto('bookings').values({ note }).execute()
        await new Promise<void>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      }),
      ctx.run('bad', () => Promise.reject(new Error('boom'))),
    ]),
  )
  durably.start()
  const error = await job.triggerAndWait('one').catch((error) => error)
  expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('boom') })
  expect(await durably.getSteps(error.runId)).toMatchObject([{ name: 'bad', status: 'failed' }])
  expect(await bookings()).toEqual([])
})

test('one that waits for a lock longer than a lease ends by its own limit, and its run keeps its worker', async () => {
  const { durably, db } = await setup({ staleThreshold: 3000, heartbeatInterval: 500 })
  await db.insertInto('bookings').values({ note: 'mine' }).execute()
  let calls = 0
  const job = durably.defineJob({ name: 'wait', input: z.null() }, (ctx) =>
    ctx.transaction('wait', async (trx) => {
      calls++
      await sql`UPDATE bookings SET note = 'yours'`.execute(trx)
    }),
  )
  const { opened: over, open: release } = gate()
  const { opened: locked, open: lock } = gate()
  const holder = db.transaction().execute(async (trx) => {
    await sql`SELECT * FROM bookings FOR UPDATE`.execute(trx)
    lock()
    await over
  })
  await locked
  durably.start()
  const error = await job.triggerAndWait(null).catch((error) => error)
  release()
  await holder
  expect(error).toMatchObject({ code: 'run_failed', cause: { code: 'transaction_timeout' } })
  expect(calls).toBe(1)
  expect(await durably.getRuns()).toMatchObject([{ recoveries: 0 }])
  expect((await db.selectFrom('bookings').selectAll().execute()).map(({ note }) => note)).toEqual(['mine'])
})
