// ctx.transaction and trigger({ tx }) on a real Postgres: short; the long form is on SQLite.
import { type Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably } from '../../src/durably.ts'
import type { Transaction } from '../../src/model/job.ts'
import { postgres } from '../../src/postgres/index.ts'
import { temporaryDatabase } from '../postgres/place.ts'

type Bookings = Kysely<{ bookings: { note: string } }>

async function setup() {
  const url = await temporaryDatabase()
  const durably = createDurably({ dialect: postgres(url), pollingInterval: 50 })
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
