// ctx.transaction: the user's rows and the record of the step commit together, exactly once, whatever is killed when.
import { Kysely, sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably } from '../../src/durably.ts'
import { retry } from '../../src/model/retry-policy.ts'
import type { Transaction } from '../../src/model/transaction.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { type Death, mortalDialect } from './mortal-dialect.ts'
import { logOf } from './run-log.ts'
import { setup as setupWorld, type WorldOptions } from './world.ts'

const anything = z.unknown()
const UNDONE_BY_ITSELF = /undone the transaction by itself; an error of a query inside it was caught, let it pass instead$/

/** A world with a table of the user's. */
async function setup(options: WorldOptions = {}) {
  const world = await setupWorld('sqlite', options)
  const { db } = world.another() as unknown as { db: Kysely<{ bookings: { note: string } }> }
  await sql`CREATE TABLE bookings (note TEXT NOT NULL)`.execute(db)
  return {
    ...world,
    db,
    bookings: async () => (await db.selectFrom('bookings').select('note').execute()).map(({ note }) => note),
  }
}

function book(trx: Transaction, note: string): Promise<unknown> {
  return trx.insertInto('bookings').values({ note }).execute()
}

describe('ctx.transaction', () => {
  test('commits the rows and the step together; a replay returns its value and books nothing', async () => {
    const { durably, env, store, bookings } = await setup()
    const seen: unknown[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      seen.push(
        await ctx.transaction('book', async (trx) => {
          await book(trx, 'one')
          return { at: new Date(5) }
        }),
      )
      await ctx.sleep('nap', 1000)
    })
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(seen).toStrictEqual([{ at: new Date(5) }, { at: new Date(5) }])
    expect(await bookings()).toEqual(['one'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(typesOf(ofType(heard, 'step:start'))).toHaveLength(1)
    expect(typesOf(await logOf(store, id)).slice(0, 4)).toEqual(['run:trigger', 'run:start', 'step:start', 'step:complete'])
  })

  test('what its function throws undoes the rows, fails the step and reaches the job', async () => {
    const { durably, soon, bookings } = await setup()
    const mistake = new Error('sold out')
    let caught: unknown
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const booked = ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        throw mistake
      })
      await booked.catch((error: unknown) => {
        caught = error
      })
      await ctx.transaction('second', (trx) => book(trx, 'two').then(() => 2))
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(caught).toBe(mistake)
    expect(await bookings()).toEqual(['two'])
    expect((await durably.getSteps(id)).map(({ name, status, error }) => [name, status, error])).toEqual([
      ['book', 'failed', 'sold out'],
      ['second', 'completed', null],
    ])
  })

  test('a statement that the database refuses fails the step, and nothing of it stays', async () => {
    const { durably, soon, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        await trx.insertInto('bookings').values({ note: null }).execute()
      }),
    )
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await bookings()).toEqual([])
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('NOT NULL') })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'book' }])
  })

  test.each([
    ['COMMIT', 'and throws', true],
    ['commit', 'and returns', false],
    ['/* so */ ROLLBACK', 'and throws', true],
    ['-- so\n rollback', 'and returns', false],
    ['END', 'and throws', true],
    ['BEGIN', 'and throws', true],
    ['ROLLBACK /* to */', 'and throws', true],
    ['ROLLBACK -- back to start', 'and throws', true],
    ['SELECT 1; COMMIT', 'and throws', true],
  ])('a raw %j %s: it is refused, the step fails, and nothing of it stays', async (statement, _, throws) => {
    const { durably, env, bookings } = await setup()
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        calls++
        await book(trx, 'one')
        await sql.raw(statement).execute(trx)
        if (throws) throw new Error('later')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: {
        code: 'transaction_open',
        message: expect.stringMatching(/leave it out: it commits when its function returns, and is undone when it throws/),
      },
    })
    expect([calls, await bookings()]).toEqual([1, []])
  })

  test('a trigger may be created in it: its END is no end', async () => {
    const { durably, env, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await sql`CREATE TRIGGER twice AFTER INSERT ON bookings WHEN NEW.note = 'one' BEGIN INSERT INTO bookings VALUES ('two'); END`.execute(
          trx,
        )
        await book(trx, 'one')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await bookings()).toEqual(['one', 'two'])
  })

  test('savepoints of the user’s own are no end', async () => {
    const { durably, env, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        await sql`SAVEPOINT mine`.execute(trx)
        await book(trx, 'two')
        await sql`ROLLBACK TO mine`.execute(trx)
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await bookings()).toEqual(['one'])
  })

  test('what the function throws after the database has undone everything by itself fails the step, once', async () => {
    const { durably, env, bookings } = await setup()
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        calls++
        await book(trx, 'one')
        await sql`INSERT OR ROLLBACK INTO bookings VALUES (NULL)`.execute(trx).catch(() => {})
        throw new Error('sold out')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(60_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'sold out' })
    expect([calls, await bookings()]).toEqual([1, []])
  })

  test('one that is tried again and again ends when the run is asked to stop', async () => {
    const { wrap, faults } = faulty()
    const { durably, env, within } = await setup({ wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.transaction('book', (trx) => book(trx, 'one')))
    const { id } = await job.trigger(null)
    faults.fail('transact', { when: 'before', times: 1_000_000 })
    durably.start()
    await env.advance(3000)
    await within(5000, durably.stop({ timeout: 100 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', recoveries: 0 })
  })

  test('calls of the instance inside are refused at once, and work again after it; with tx a trigger is part of it', async () => {
    const { durably, env } = await setup()
    const other = durably.defineJob({ name: 'other', input: anything }, async () => {})
    const watched = durably.watchRuns()[Symbol.asyncIterator]()
    const refused: unknown[] = []
    let late: Promise<unknown> = Promise.resolve()
    const end = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        const calls = [
          () => other.trigger(null),
          () => other.batchTrigger([{ payload: null }]),
          () => other.triggerAndWait(null),
          () => other.getRun('x'),
          () => durably.getRun('x'),
          () => durably.getRuns(),
          () => durably.getSteps('x'),
          () => durably.getLogs('x'),
          () => durably.cancel('x'),
          () => durably.retry('x'),
          () => durably.deleteRun('x'),
          () => durably.signal('x', 'name', null),
          () => durably.countsByPhase(),
          () => durably.purge({ olderThan: '1d' }),
          () => durably.subscribe(ctx.runId)[Symbol.asyncIterator]().next(),
          () => durably.watchRuns()[Symbol.asyncIterator]().next(),
          () => watched.next(),
          () => durably.processOne(),
          () => durably.processUntilIdle(),
          () => durably.migrate(),
        ]
        for (const call of calls) refused.push(await call().catch((error: unknown) => error))
        late = end.opened.then(() => durably.getRun(ctx.runId))
        await other.trigger('with tx', { tx: trx })
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    const message = 'durably was called inside transaction "book"; use trx or trigger(…, { tx: trx }), or call it before or after'
    expect(refused).toMatchObject(Array(20).fill({ code: 'transaction_open', message }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await other.getRuns()).toMatchObject([{ payload: 'with tx', status: 'completed' }])
    end.open()
    expect(await late).toMatchObject({ id })
  })

  test('one that the database ended by itself fails the step, also when the function caught that', async () => {
    const { durably, soon, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        // SQLite undoes the whole transaction and goes on without one, as it does when the disk is full.
        await sql`INSERT OR ROLLBACK INTO bookings VALUES (NULL)`.execute(trx).catch(() => {})
        await book(trx, 'two')
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: expect.stringMatching(UNDONE_BY_ITSELF) })
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'book', status: 'failed' }])
    expect(await bookings()).not.toContain('one')
  })

  test.each([
    ['a conflict that rolls back', 'INSERT OR ROLLBACK INTO bookings VALUES (NULL)'],
    ['a trigger that does', "INSERT INTO bookings VALUES ('sold out')"],
  ])('%s, caught: no later query of the function is sent, one that was under way neither', async (_, failing) => {
    const { durably, db, env, bookings } = await setup()
    await sql`CREATE TRIGGER no_more BEFORE INSERT ON bookings WHEN NEW.note = 'sold out' BEGIN SELECT RAISE(ROLLBACK, 'no'); END`.execute(
      db,
    )
    const refused: unknown[] = []
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3, delay: 1 }) }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        await Promise.allSettled([sql.raw(failing).execute(trx), book(trx, 'at once')])
        for (const note of ['two', 'three']) await book(trx, note).catch((error: Error) => refused.push(error.message))
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: expect.stringMatching(UNDONE_BY_ITSELF) })
    expect(refused.length).toBeGreaterThan(1)
    for (const message of refused) expect(message).toMatch(UNDONE_BY_ITSELF)
    expect(await bookings()).toEqual([])
  })

  test('a query that failed and was caught ends nothing: savepoints and rows of the function stay', async () => {
    const { durably, env, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        await sql`SAVEPOINT mine`.execute(trx)
        await sql`INSERT INTO bookings VALUES (NULL)`.execute(trx).catch(() => {})
        await book(trx, 'two')
        await sql`ROLLBACK TO mine`.execute(trx)
        await book(trx, 'three')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await bookings()).toEqual(['one', 'three'])
  })

  test('a value that cannot be stored undoes the rows too', async () => {
    const { durably, soon, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx): Promise<unknown> => {
        await book(trx, 'one')
        return () => {}
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await bookings()).toEqual([])
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'value_not_serializable' } })
  })

  test('one that takes too long is undone; queries that come after that are refused', async () => {
    const { durably, another, env, bookings } = await setup()
    // The connection of the instance is the transaction's until it ends.
    const outside = another()
    const late = gate()
    let refused: unknown
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', { timeout: '2s' }, async (trx) => {
        await book(trx, 'in time')
        await late.opened
        await book(trx, 'late').catch((error: unknown) => {
          refused = error
        })
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1999)
    expect(await outside.getRun(id)).toMatchObject({ status: 'running' })
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'transaction_timeout' } })
    late.open()
    await env.advance(10)
    expect(refused).toMatchObject({
      code: 'context_closed',
      message: expect.stringContaining('await every query inside ctx.transaction()'),
    })
    expect(await bookings()).toEqual([])
  })

  test('its limit is 5 s, and a third of the lease at most', async () => {
    const { durably, another, env } = await setup({ staleThreshold: 9000 })
    const outside = another()
    const job = durably.defineJob({ name: 'job', input: z.number().optional() }, (ctx, timeout) =>
      ctx.transaction('book', timeout === undefined ? {} : { timeout }, () => new Promise<void>(() => {})),
    )
    const hangs = await job.trigger(undefined)
    const refused = await job.trigger(3001)
    durably.start()
    await env.advance(2990)
    expect(await outside.getRun(hangs.id)).toMatchObject({ status: 'running' })
    await env.advance(100)
    expect(await durably.getRun(hangs.id)).toMatchObject({
      status: 'failed',
      failure: { code: 'transaction_timeout', message: expect.stringMatching(/"book" took longer than 3000 ms.*; keep it short/) },
    })
    expect(await durably.getRun(refused.id)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_argument', message: expect.stringContaining('timeout of a transaction must be at most 3000 ms') },
    })
  })

  test('ctx calls inside it throw a clear error instead of waiting for it', async () => {
    const { durably, soon, bookings } = await setup()
    const refused: unknown[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const calls = [
        () => ctx.run('inner', () => {}),
        () => ctx.run('with options', {}, () => {}),
        () => ctx.sleep('nap', 1),
        () => ctx.sleepUntil('then', 1),
        () => ctx.waitFor('signal'),
        () => ctx.stream('stream', async () => {}),
        () => ctx.trigger(job, null),
        () => ctx.invoke(job, null),
        () => ctx.transaction('nested', async () => {}),
      ]
      await ctx.transaction('book', async (trx) => {
        ctx.progress(1)
        ctx.log.info('inside')
        for (const call of calls) await call().catch((error: unknown) => refused.push(error))
        expect(trx.isTransaction).toBe(true)
        expect(() => trx.transaction()).toThrow('this is a transaction already; use it as it is')
        await expect(trx.startTransaction().execute()).rejects.toThrow('this is a transaction already; use it as it is')
        await book(trx, 'one')
      })
      await ctx.run('inner', () => {})
      return refused.length
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const message = expect.stringMatching(/^step .* was called inside transaction "book"; call it before or after$/)
    expect(refused).toMatchObject(Array(9).fill({ code: 'transaction_open', message }))
    expect(await bookings()).toEqual(['one'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 9, progress: { current: 1 } })
  })

  test('without a function it is refused', async () => {
    const { durably, soon } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.transaction('book', undefined as never))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_argument', message: 'transaction "book" needs a function as its last argument' },
    })
  })

  test('in memory it fails with a clear error, once', async () => {
    const { durably, soon } = await setupWorld('memory')
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.transaction('book', async () => {}))
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'transaction_unsupported', message: 'ctx.transaction needs a database; this store has none' },
    })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'book' }])
  })

  test('who lost the run in the middle of it commits nothing', async () => {
    const { durably, another, env, bookings } = await setup({ staleThreshold: 9000 })
    const define = (instance: Durably, body: (trx: Transaction) => Promise<void>) =>
      instance.defineJob({ name: 'job', input: anything, retry: retry.none() }, (ctx) => ctx.transaction('book', body))
    // The lease is taken away from under it, as an operator or a broken clock would.
    const job = define(durably, async (trx) => {
      await book(trx, 'first')
      await sql`UPDATE runs SET lease_generation = lease_generation + 1, lease_owner = 'another'`.execute(trx)
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await bookings()).toEqual([])
    await durably.stop({ timeout: 0 })
    const heir = another({ staleThreshold: 9000 })
    define(heir, async (trx) => void (await book(trx, 'second')))
    heir.start()
    await env.advance(20_000)
    expect(await bookings()).toEqual(['second'])
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test.each(['before', 'after'] as const)('an answer lost %s it took effect: booked once', async (when) => {
    const { wrap, faults } = faulty()
    const { durably, env, bookings } = await setup({ wrap })
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.transaction('book', async (trx) => {
        calls++
        await book(trx, `call ${calls}`)
        return calls
      }),
    )
    faults.fail('transact', { when, times: 2 })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(await bookings()).toEqual(['call 1'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    expect(await durably.getSteps(id)).toHaveLength(1)
  })
})

/** Statements of one transaction: begin, two of the user's, the run, the step, its events, commit; and what follows. */
const STATEMENTS = Array.from({ length: 12 }, (_, n) => n)

describe.each<Death>(['killed before', 'killed after'])('a process that is %s statement', (death) => {
  test.each(STATEMENTS)('%i of a transaction leaves it whole or not at all; it is booked once', async (n) => {
    const { another, env, file, bookings } = await setup()
    const dialect = mortalDialect(sqlite(file, { durability: 'relaxed', busyTimeoutMs: 1 }))
    const doomed = createDurably({ env, dialect })
    const define = (instance: Durably, onStart: () => void) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        onStart()
        await ctx.transaction('book', async (trx) => {
          await book(trx, 'one')
          await book(trx, 'two')
        })
        return 'done'
      })
    const { id } = await define(doomed, () => dialect.dieAt(n, death)).trigger(null)
    doomed.start()
    await env.advance(1000)
    const heir = another()
    const isWhole = [[], ['one', 'two']]
    expect(isWhole).toContainEqual(await bookings())
    expect((await heir.getSteps(id)).length * 2).toBe((await bookings()).length)
    define(heir, () => {})
    heir.start()
    await env.advance(40_000)
    expect(await bookings()).toEqual(['one', 'two'])
    expect(await heir.getSteps(id)).toHaveLength(1)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
    if (n < 6) expect(dialect.isDead).toBe(true)
  })
})

test('a reply to COMMIT that is lost: the step is found, and the function is not called again', async () => {
  const { env, file, bookings } = await setup()
  const dialect = mortalDialect(sqlite(file, { durability: 'relaxed', busyTimeoutMs: 1 }))
  const durably = createDurably({ env, dialect })
  let calls = 0
  const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
    ctx.transaction('book', async (trx) => {
      calls++
      dialect.dieAt(commitAt, 'reply lost')
      await book(trx, 'one')
    }),
  )
  // Counted from inside the body: the insert, then our own, and COMMIT last.
  let commitAt = 99
  const rehearsal = await job.trigger(null)
  durably.start()
  await env.advance(1000)
  expect(await durably.getRun(rehearsal.id)).toMatchObject({ status: 'completed' })
  commitAt = dialect.statements.findIndex((statement) => /^commit/i.test(statement))
  expect(commitAt).toBeGreaterThan(1)
  const { id } = await job.trigger(null)
  await env.advance(10_000)
  expect(calls).toBe(2)
  expect(await bookings()).toEqual(['one', 'one'])
  expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  await durably[Symbol.asyncDispose]()
})

describe('trigger({ tx })', () => {
  test('the run exists when the transaction commits, and runs then', async () => {
    const { durably, env, db, bookings } = await setup({ pollingInterval: 1000 })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    durably.start()
    const heard = listenTo(durably)
    const id = await db.transaction().execute(async (tx) => {
      await tx.insertInto('bookings').values({ note: 'with a run' }).execute()
      return (await job.trigger({ a: 1 }, { tx, idempotencyKey: 'k' })).id
    })
    expect(await bookings()).toEqual(['with a run'])
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', payload: { a: 1 } })
    expect(ofType(heard, 'run:start')).toHaveLength(1)
  })

  test('rolled back, there is no run', async () => {
    const { durably, env, db, bookings } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    durably.start()
    const heard = listenTo(durably)
    const rolledBack = db.transaction().execute(async (tx) => {
      await tx.insertInto('bookings').values({ note: 'no' }).execute()
      await job.batchTrigger([
        { payload: 1, options: { tx } },
        { payload: 2, options: { tx } },
      ])
      throw new Error('changed my mind')
    })
    await expect(rolledBack).rejects.toThrow('changed my mind')
    await env.advance(5000)
    expect(await durably.getRuns()).toEqual([])
    expect(await bookings()).toEqual([])
    expect(ofType(heard, 'run:trigger')).toEqual([])
  })

  test('inside ctx.transaction: rows, step and run commit together', async () => {
    const { durably, env, bookings } = await setup()
    const mail = durably.defineJob({ name: 'mail', input: z.string() }, async (_, to) => `sent to ${to}`)
    const job = durably.defineJob({ name: 'job', input: z.boolean() }, (ctx, fails) =>
      ctx.transaction('book', async (trx) => {
        await book(trx, 'one')
        await mail.trigger('me', { tx: trx })
        if (fails) throw new Error('no')
      }),
    )
    await job.trigger(true)
    await job.trigger(false)
    durably.start()
    await env.advance(5000)
    expect(await bookings()).toEqual(['one'])
    expect(await mail.getRuns()).toMatchObject([{ status: 'completed', output: 'sent to me' }])
  })

  test('what is no transaction, two of them in a batch, or waiting for it: refused', async () => {
    const { durably, db } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    for (const tx of [{}, 'tx', db, durably.db])
      await expect(job.trigger(null, { tx })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringMatching(/^tx must be a transaction of Kysely, on the database that this instance uses: /),
      })
    await db.connection().execute(async (tx) => {
      await expect(job.trigger(null, { tx })).rejects.toMatchObject({ code: 'invalid_argument' })
    })
    const mixed = [{ payload: 1, options: { tx: db } }, { payload: 2 }]
    await expect(job.batchTrigger(mixed)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(job.triggerAndWait(null, { tx: db })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('use trigger({ tx })'),
    })
    expect(await durably.getRuns()).toEqual([])
  })

  test('one that is over, or of another database: refused for good, with the name of the option', async () => {
    const { durably, db } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    const refusal = (message: string) => ({ code: 'invalid_argument', message: expect.stringMatching(new RegExp(`^tx must .*${message}`)) })
    const committed = await db.transaction().execute(async (tx) => tx)
    await expect(job.trigger(null, { tx: committed })).rejects.toMatchObject(refusal('already committed'))
    const rolledBack = await db.startTransaction().execute()
    await rolledBack.rollback().execute()
    await expect(job.trigger(null, { tx: rolledBack })).rejects.toMatchObject(refusal('already rolled back'))
    const elsewhere = new Kysely({ dialect: sqlite(':memory:') })
    onTestFinished(() => elsewhere.destroy())
    const stored = elsewhere.transaction().execute((tx) => job.trigger(null, { tx }))
    await expect(stored).rejects.toMatchObject(refusal('no such table: runs'))
    expect(await durably.getRuns()).toEqual([])
  })

  test('one that the database refuses for now: the error says to try the whole transaction again, and that works', async () => {
    const { durably, db, store } = await setup()
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    const heard = listenTo(durably)
    const trigger = () => db.transaction().execute((tx) => job.trigger(null, { tx, idempotencyKey: 'k' }))
    const other = await (durably.db as unknown as typeof db).startTransaction().execute()
    await other.insertInto('bookings').values({ note: 'in the way' }).execute()
    await expect(trigger()).rejects.toMatchObject({
      code: 'store_busy',
      message: 'roll tx back and try the whole transaction again: the database is locked by another connection: database is locked',
      cause: { errcode: 5 },
    })
    await other.commit().execute()
    expect(await durably.getRuns()).toEqual([])
    const { id } = await trigger()
    expect(await trigger()).toMatchObject({ id })
    expect(typesOf(await logOf(store, id))).toEqual(['run:trigger'])
    expect(ofType(heard, 'run:trigger')).toEqual([])
  })

  test('in memory: a clear error', async () => {
    const { durably } = await setupWorld('memory')
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    await expect(job.trigger(null, { tx: {} })).rejects.toMatchObject({ code: 'transaction_unsupported' })
  })
})
