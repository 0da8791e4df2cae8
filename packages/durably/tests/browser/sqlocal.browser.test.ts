import { CompiledQuery, Kysely, sql } from 'kysely'
import { SQLocal } from 'sqlocal'
import { SQLocalKysely } from 'sqlocal/kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../src/config.ts'
import { createDurably, type Durably, type DurablyOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { type Env, systemEnv } from '../../src/model/env.ts'

let files = 0
const newFile = () => `sqlocal-${++files}.sqlite3`

function open(client: SQLocalKysely, options: DurablyOptions = {}): Durably {
  const durably = createDurably({ dialect: client.dialect, ...options })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  return durably
}

const defineEcho = (durably: Durably) =>
  durably.defineJob({ name: 'echo', input: z.object({ text: z.string() }) }, async (ctx, { text }) => ctx.run('echo', () => text))

test('a job runs on SQLocal as the specification writes it (000)', async () => {
  const { dialect } = new SQLocalKysely(newFile())
  const durably = createDurably({ dialect })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  const echo = defineEcho(durably)
  await durably.migrate()
  durably.start()
  expect(await echo.triggerAndWait({ text: 'hello' })).toMatchObject({ output: 'hello' })
})

test.each([':memory:', ':sessionStorage:'])('a database that is kept in %s is refused, unless memory was asked for', async (path) => {
  const durably = open(new SQLocalKysely(path))
  await expect(durably.migrate()).rejects.toMatchObject({ code: 'store_in_memory', message: expect.stringContaining(path) })
  await expect(durably.getRuns()).rejects.toMatchObject({ code: 'store_in_memory' })
  const accepted = open(new SQLocalKysely(path), { allowMemory: true })
  await accepted.migrate()
  expect(await accepted.getRuns()).toEqual([])
})

test('a client that fell back to memory is replaced by one that has the file', async () => {
  const file = newFile()
  const other = new SQLocal({ databasePath: file, onInit: (sql) => [sql`PRAGMA locking_mode = EXCLUSIVE`] })
  await other.sql`CREATE TABLE theirs (a)`
  const client = new SQLocalKysely(file)
  expect(await client.getDatabaseInfo()).toMatchObject({ storageType: 'memory' })
  await other.destroy()
  const durably = open(client)
  const echo = defineEcho(durably)
  await durably.migrate()
  const { id } = await echo.trigger({ text: 'kept' })
  await durably[Symbol.asyncDispose]()
  expect(await open(new SQLocalKysely(file)).getRun(id)).toMatchObject({ status: 'pending' })
  await expect(client.sql`SELECT 1`).rejects.toThrow('destroyed')
})

test('transactions of the user and of the engine share the connection without coming between each other', async () => {
  const client = new SQLocalKysely(newFile())
  const durably = open(client)
  const echo = defineEcho(durably)
  await durably.migrate()
  await client.sql`CREATE TABLE mine (a)`
  const triggered: Promise<unknown>[] = []
  for (let i = 0; i < 10; i++) {
    triggered.push(echo.trigger({ text: 'between' }))
    const kept = client.transaction(async (tx) => {
      triggered.push(echo.trigger({ text: 'during' }))
      await tx.sql`INSERT INTO mine VALUES (${i})`
      await tx.sql`INSERT INTO mine VALUES (${i})`
    })
    const undone = new Kysely<unknown>({ dialect: client.dialect }).transaction().execute(async (trx) => {
      await sql`INSERT INTO mine VALUES ('undone')`.execute(trx)
      throw new Error('undone')
    })
    await Promise.all([kept, expect(undone).rejects.toThrow('undone')])
  }
  await Promise.all(triggered)
  expect(await durably.getRuns()).toHaveLength(20)
  expect(await client.sql`SELECT count(*) AS kept FROM mine`).toEqual([{ kept: 20 }])
})

test('a transaction that SQLite has ended by itself leaves the client open for others', async () => {
  const client = new SQLocalKysely(newFile())
  const durably = open(client, { pollingInterval: 20 })
  let tries = 0
  const job = durably.defineJob({ name: 'transact', input: z.object({}) }, (ctx) =>
    ctx.transaction('write', async (trx) => {
      if (++tries > 1) return tries
      // SQLite undoes it, as it does when the disk is full.
      await trx.executeQuery(CompiledQuery.raw('INSERT OR ROLLBACK INTO taken VALUES (1)')).catch(() => {})
      throw new Error('the place is taken')
    }),
  )
  await durably.migrate()
  await client.sql`CREATE TABLE taken (place INTEGER PRIMARY KEY)`
  await client.sql`INSERT INTO taken VALUES (1)`
  durably.start()
  await expect(job.triggerAndWait({})).rejects.toThrow('the place is taken')
  expect(await job.triggerAndWait({})).toMatchObject({ output: 2 })
  expect(await client.sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
})

test('a database that someone else has locked for longer than a lease only delays the run', async () => {
  const file = newFile()
  const lease = { staleThreshold: 1000, heartbeatInterval: 200, pollingInterval: 50 }
  // It knows no lock of ours, so it comes first, or else it might end up in memory.
  const other = new SQLocal(file)
  expect(await other.getDatabaseInfo()).toMatchObject({ storageType: 'opfs' })
  const durably = open(new SQLocalKysely({ databasePath: file, onInit: (sql) => [sql`PRAGMA busy_timeout = 1`] }), lease)
  onTestFinished(() => other.destroy())
  const error = new Promise<string>((resolve) => void durably.on('worker:error', ({ error }) => resolve(error)))
  let isLocked = () => {}
  const locked = new Promise<void>((resolve) => {
    isLocked = resolve
  })
  const job = durably.defineJob({ name: 'locked', input: z.object({}) }, async (ctx) => {
    await ctx.run('lock', async () => {
      await other.sql`BEGIN IMMEDIATE`
      isLocked()
    })
    return 'done'
  })
  await durably.migrate()
  durably.start()
  const { id } = await job.trigger({})
  await locked
  expect(await error).toMatch(/whole lease/)
  await other.sql`COMMIT`
  await expect.poll(() => durably.getRun(id).catch(() => null), { timeout: 40_000 }).toMatchObject({ status: 'completed', output: 'done' })
})

/** Nobody waits for it: who goes on without it has inherited. */
const LONG_LEASE = { staleThreshold: 600_000, pollingInterval: 50 }

test('of the instances that share a file one executes; when it goes, the next one goes on at once with what is left', async () => {
  const file = newFile()
  const leader = open(new SQLocalKysely(file), LONG_LEASE)
  const follower = open(new SQLocalKysely(file), LONG_LEASE)
  const states: string[] = []
  for (const [name, durably] of Object.entries({ leader, follower }))
    durably.on('worker:lead', ({ state }) => void states.push(`${name} ${state}`))
  const defineEndless = (durably: Durably, run: () => unknown) =>
    durably.defineJob({ name: 'endless', input: z.object({}) }, async (ctx) => ctx.run('step', async () => void (await run())))
  let isExecuted = false
  const endless = defineEndless(leader, () => {
    isExecuted = true
    return new Promise<void>((resolve) => onTestFinished(() => resolve()))
  })
  defineEndless(follower, () => {})
  await leader.migrate()
  leader.start()
  const { id } = await endless.trigger({})
  await expect.poll(() => isExecuted).toBe(true)
  follower.start()
  await expect.poll(() => states).toEqual(['leader leading', 'follower waiting'])
  expect(await follower.processOne()).toBe(false)
  // Its function ignores that it is asked to stop: only a page that goes away lets go of the lead then.
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
  await expect.poll(() => follower.getRun(id), { timeout: 20_000 }).toMatchObject({ status: 'completed' })
  expect(states).toContain('follower leading')
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
})

test.each(['memory', 'tables of their own'])('instances with %s do not wait for each other', async (what) => {
  const path = what === 'memory' ? ':memory:' : newFile()
  for (const tablePrefix of ['a_', 'b_']) {
    const durably = open(new SQLocalKysely(path), { allowMemory: true, ...(what !== 'memory' && { tablePrefix }) })
    const echo = defineEcho(durably)
    await durably.migrate()
    durably.start()
    expect(await echo.triggerAndWait({ text: what })).toMatchObject({ output: what })
  }
})

test('a tab that was frozen with the lock of the file is robbed of it, and what it had begun still ends', async () => {
  const file = newFile()
  let thaw = () => {}
  const frozen = navigator.locks.request(
    `durably:${file}`,
    () =>
      new Promise<void>((resolve) => {
        thaw = resolve
      }),
  )
  const isRobbed = expect(frozen).rejects.toMatchObject({ name: 'AbortError' })
  const { timer, ...rest } = systemEnv()
  const fast: Env = { ...rest, timer: (ms, fn) => timer(ms / 50, fn) }
  const durably = open(new SQLocalKysely(file), { env: fast })
  await durably.migrate()
  await isRobbed
  thaw()
  expect(await durably.getRuns()).toEqual([])
})

test('a client that was destroyed is a closed store', async () => {
  const client = new SQLocalKysely(newFile())
  const durably = createDurably({ dialect: client.dialect })
  await durably.migrate()
  await client.destroy()
  await expect(durably.getRuns()).rejects.toMatchObject({ code: 'store_closed' })
})

test('in a browser a run may lose any number of workers, unless a limit is given', () => {
  expect(readConfig({ store: memoryStore() }).maxRecoveries).toBe(Number.POSITIVE_INFINITY)
  expect(readConfig({ store: memoryStore(), maxRecoveries: 3 }).maxRecoveries).toBe(3)
})
