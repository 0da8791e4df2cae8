// browserDialect inside one page: several instances in it are to each other what tabs are.
import { CompiledQuery, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { browserDialect } from '../../src/browser/index.ts'
import { WorkerTimers } from '../../src/browser/worker-timers.ts'
import { createDurably, type Durably, type DurablyOptions } from '../../src/index.ts'

/** Polling finds nothing within a test. */
const NO_POLLING = { pollingInterval: 3_600_000 }

let names = 0
const newName = () => `test ${++names}`

function open(name: string, options: DurablyOptions = {}): Durably {
  const durably = createDurably({ dialect: browserDialect(name), ...options })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  return durably
}

function defineEcho(durably: Durably, ran: string[] = []) {
  return durably.defineJob({ name: 'echo', input: z.object({ text: z.string() }) }, (ctx, { text }) =>
    ctx.run('echo', () => {
      ran.push(text)
      return text
    }),
  )
}

async function rowsOf({ db }: Durably, query: string): Promise<unknown[]> {
  return (await db.executeQuery(CompiledQuery.raw(query))).rows
}

test('a job runs, with the lease of a browser unless another one is given', async () => {
  const name = newName()
  const durably = open(name)
  const echo = defineEcho(durably)
  await durably.migrate()
  durably.start()
  expect(await echo.triggerAndWait({ text: 'hello\u0000\ufeff' })).toMatchObject({ output: 'hello\u0000\ufeff' })
  const leases: number[] = []
  const leaseOf = async (instance: Durably) => {
    const [run] = (await rowsOf(instance, "SELECT lease_expires_at AS ends FROM runs WHERE status = 'running'")) as { ends: number }[]
    leases.push(Math.round(((run?.ends ?? 0) - Date.now()) / 10_000) * 10_000)
  }
  const look = durably.defineJob({ name: 'look', input: z.object({}) }, () => leaseOf(durably))
  await look.triggerAndWait({})
  await durably[Symbol.asyncDispose]()
  const other = open(name, { staleThreshold: 60_000 })
  const lookAgain = other.defineJob({ name: 'look', input: z.object({}) }, () => leaseOf(other))
  other.start()
  await lookAgain.triggerAndWait({})
  expect(leases).toEqual([120_000, 60_000])
})

test('an instance that is made twice and disposed once, as in StrictMode, runs every job once', async () => {
  const name = newName()
  const ran: string[] = []
  const first = createDurably({ dialect: browserDialect(name), ...NO_POLLING })
  const early = defineEcho(first, ran)
  const mounted = first.migrate().then(() => first.start())
  const second = open(name, NO_POLLING)
  const echo = defineEcho(second, ran)
  await second.migrate()
  second.start()
  await mounted
  const { id } = await early.trigger({ text: 'early' })
  await first[Symbol.asyncDispose]()
  expect(await echo.triggerAndWait({ text: 'late' })).toMatchObject({ output: 'late' })
  await expect.poll(() => second.getRun(id)).toMatchObject({ status: 'completed' })
  expect(ran.toSorted()).toEqual(['early', 'late'])
  expect(await second.capabilities()).toMatchObject({ role: 'host', executes: true })
})

test('what another instance does is heard at once, without polling', async () => {
  const name = newName()
  const worker = open(name, NO_POLLING)
  const client = open(name, NO_POLLING)
  const stopped: unknown[] = []
  worker.defineJob({ name: 'wait', input: z.object({}) }, async (ctx) => {
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    stopped.push(ctx.signal.reason)
  })
  const wait = client.defineJob({ name: 'wait', input: z.object({}) }, () => {})
  await worker.migrate()
  worker.start()
  await expect.poll(() => worker.capabilities()).toMatchObject({ executes: true })
  client.start()
  const { id } = await wait.trigger({})
  const types: string[] = []
  for await (const { type } of client.subscribe(id)) {
    types.push(type)
    if (type === 'run:start') await client.cancel(id)
  }
  expect(types.at(-1)).toBe('run:cancel')
  expect(stopped).toMatchObject([{ code: 'cancel_requested' }])
  expect(await client.capabilities()).toMatchObject({ role: 'guest', executes: false })
})

test('one that does not execute answers processOne() with nothing to do', async () => {
  const name = newName()
  const worker = open(name)
  const other = open(name)
  const echo = defineEcho(other)
  await worker.migrate()
  await echo.trigger({ text: 'a' })
  worker.start()
  await expect.poll(() => worker.capabilities()).toMatchObject({ executes: true })
  expect(await other.processUntilIdle()).toBe(0)
  await worker.stop()
  expect(await other.processUntilIdle()).toBe(1)
  expect(await other.processOne()).toBe(false)
})

test('transactions of the user, steps in them, and what a second instance sees', async () => {
  const name = newName()
  const durably = open(name)
  const guest = open(name)
  await durably.migrate()
  await rowsOf(durably, 'CREATE TABLE mine (a)')
  const job = durably.defineJob({ name: 'pay', input: z.object({ fail: z.boolean() }) }, (ctx, { fail }) =>
    ctx.transaction('insert', async (trx) => {
      await sql`INSERT INTO mine VALUES (${new Uint8Array([1, 2])}), (${2n ** 60n}), (${1.5}), (NULL)`.execute(trx)
      if (fail) throw new Error('undone')
      return 'done'
    }),
  )
  durably.start()
  await expect(job.triggerAndWait({ fail: true })).rejects.toThrow('undone')
  expect(await rowsOf(guest, 'SELECT a FROM mine')).toEqual([])
  expect(await job.triggerAndWait({ fail: false })).toMatchObject({ output: 'done' })
  expect(await rowsOf(guest, 'SELECT a FROM mine')).toEqual([{ a: new Uint8Array([1, 2]) }, { a: 2n ** 60n }, { a: 1.5 }, { a: null }])
  const held = guest.db.transaction().execute(async (trx) => {
    await sql`DELETE FROM mine`.execute(trx)
    const waiting = rowsOf(durably, 'SELECT count(*) AS left FROM mine')
    await sql`SELECT 1`.execute(trx)
    return { waiting }
  })
  expect(await (await held).waiting).toEqual([{ left: 0 }])
  expect(await guest.db.deleteFrom('runs').executeTakeFirst()).toMatchObject({ numDeletedRows: 2n })
})

test('the instance that has the database open leaves: the others do not notice, but for a transaction that was open', async () => {
  const name = newName()
  const host = open(name)
  await host.migrate()
  const guest = open(name)
  const echo = defineEcho(guest)
  let triggered = 0
  let isOver = false
  const triggering = (async () => {
    for (; !isOver; triggered++) await echo.trigger({ text: `${triggered}` })
  })()
  await expect.poll(() => triggered).toBeGreaterThan(3)
  await host[Symbol.asyncDispose]()
  const atLeast = triggered
  await expect.poll(() => triggered, { timeout: 10_000 }).toBeGreaterThan(atLeast)
  isOver = true
  await triggering
  expect(await guest.getRuns({ limit: 10_000 })).toHaveLength(triggered)
  expect(await guest.capabilities()).toMatchObject({ role: 'host' })

  const third = open(name)
  await rowsOf(guest, 'CREATE TABLE mine (a)')
  const torn = third.db.transaction().execute(async (trx) => {
    await sql`INSERT INTO mine VALUES (1)`.execute(trx)
    await guest[Symbol.asyncDispose]()
    await sql`INSERT INTO mine VALUES (2)`.execute(trx)
  })
  await expect(torn).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await rowsOf(third, 'SELECT a FROM mine')).toEqual([])
})

test('a page that is put aside gives back what settles, and goes on when it is shown again', async () => {
  const durably = open(newName(), NO_POLLING)
  let tries = 0
  const job = durably.defineJob({ name: 'put aside', input: z.object({}) }, (ctx) =>
    ctx.run('wait', () => {
      if (++tries > 1) return tries
      return new Promise<number>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    }),
  )
  await durably.migrate()
  durably.start()
  const { id } = await job.trigger({})
  await expect.poll(() => tries).toBe(1)
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
  await expect.poll(() => durably.getRun(id)).toMatchObject({ status: 'pending', error: null })
  expect(await durably.capabilities()).toMatchObject({ executes: false })
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  await expect.poll(() => durably.getRun(id)).toMatchObject({ status: 'completed', output: 2 })
})

test('timers fire on time while those of the page are held up, as in a hidden tab', async () => {
  const timers = new WorkerTimers()
  const env = timers.env()
  timers.start()
  onTestFinished(() => timers.stop())
  const setInPage = globalThis.setTimeout
  globalThis.setTimeout = ((fn: () => void) => setInPage(fn, 3_600_000)) as typeof setTimeout
  const fired: string[] = []
  try {
    env.clear(env.timer(1, () => fired.push('cleared')))
    env.clear(null)
    await new Promise<void>((resolve) => {
      env.timer(20, () => fired.push('first'))
      env.timer(60, resolve)
    })
  } finally {
    globalThis.setTimeout = setInPage
  }
  expect(fired).toEqual(['first'])
  timers.stop()
  await new Promise<void>((resolve) => void env.timer(1, resolve))
})

test('names that are no names are refused, any other is a database of its own', async () => {
  for (const wrong of ['', 'x'.repeat(101), 7 as unknown as string]) expect(() => browserDialect(wrong)).toThrow(/name of 1 to 100/)
  expect(() => browserDialect('a', { durability: 'none' as 'full' })).toThrow(/"full" or "relaxed"/)
  for (const name of ['../a/b', 'ü "%2F" \u0000', '.']) {
    const durably = open(name)
    await durably.migrate()
    await defineEcho(durably).trigger({ text: name })
    expect(await durably.getRuns()).toHaveLength(1)
  }
})
