// The engine on Postgres: several instances share a database, as processes of a fleet do.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDurably, type Durably } from '../../src/durably.ts'
import { type Env, systemEnv } from '../../src/model/env.ts'
import { monotonicUlids } from '../../src/model/ulid.ts'
import { postgres } from '../../src/postgres/index.ts'
import { checkCoherence } from '../../src/testing/store-contract/coherence.ts'
import { DIALECTS, migratedPostgres, temporaryDatabase } from './place.ts'
import { wireTo } from './wire.ts'

const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const

describe.each(DIALECTS)('$name', ({ over }) => {
  test('three instances share the work: without a fault every step is executed once', async () => {
    const url = await temporaryDatabase()
    const executed: string[] = []
    const instances = Array.from({ length: 3 }, () => {
      const { pool } = wireTo(url, { max: 5 })
      const durably = createDurably({ dialect: over(pool), concurrency: 4, pollingInterval: 50 })
      onTestFinished(async () => {
        await durably.stop()
        await durably[Symbol.asyncDispose]()
        await pool.end()
      })
      return { durably, job: threeSteps(durably, executed) }
    })
    await Promise.all(instances.map(({ durably }) => durably.migrate()))
    const [first] = instances
    if (!first) throw new Error('an instance')
    const runs = await first.job.batchTrigger(
      Array.from({ length: 40 }, (_, n) => ({ payload: { n }, options: n % 4 === 0 ? { concurrencyKey: 'k' } : {} })),
    )
    for (const { durably } of instances) durably.start()
    await expect.poll(async () => (await first.durably.getRuns({ status: 'completed' })).length, { timeout: 15_000 }).toBe(40)
    expect(executed.sort()).toEqual(runs.flatMap(({ id }) => [0, 1, 2].map((step) => `${id} ${step}`)).sort())
    const { store } = await migratedPostgres(url)
    await checkCoherence(store)
  }, 30_000)
})

test('an instance goes on where another one left off', async () => {
  const url = await temporaryDatabase()
  const executed: string[] = []
  const open = () => {
    const durably = createDurably({ dialect: postgres(url), pollingInterval: 20, staleThreshold: 300, heartbeatInterval: 100 })
    onTestFinished(() => durably[Symbol.asyncDispose]())
    return durably
  }
  const first = open()
  await first.migrate()
  let isStuck = true
  const job = (durably: Durably, waits: boolean) =>
    durably.defineJob({ name: 'job', input: anything, output: anything }, async (ctx) => {
      await ctx.run('one', async () => void executed.push('one'))
      if (waits) await new Promise((resolve) => setTimeout(resolve, 100))
      if (waits && isStuck) throw new Error('not yet')
      await ctx.run('two', async () => void executed.push('two'))
      return 'done'
    })
  const run = await job(first, true).trigger({})
  await first.processOne()
  expect((await first.getRun(run.id))?.status).toBe('failed')
  isStuck = false
  await first.retry(run.id)
  const second = open()
  job(second, false)
  await second.processOne()
  expect((await first.getRun(run.id))?.status).toBe('completed')
  expect(executed).toEqual(['one', 'two'])
})

test('when the clock of a process is set back, its runs are still executed and listed in the order of their creation', async () => {
  let setBackMs = 0
  const env = systemEnv()
  const nextId = monotonicUlids(env.random)
  const wall = () => env.wall() - setBackMs
  const settable: Env = { ...env, wall, id: () => nextId(wall()) }
  const durably = createDurably({ dialect: postgres(await temporaryDatabase()), env: settable })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  const executed: unknown[] = []
  const job = durably.defineJob({ name: 'job', input: anything }, async (_, name) => void executed.push(name))
  const a = await job.trigger('a')
  setBackMs = 3_600_000
  const b = await job.trigger('b')
  await durably.processUntilIdle()
  expect(executed).toEqual(['a', 'b'])
  expect((await job.getRuns()).map(({ id }) => id)).toEqual([b.id, a.id])
  expect(b.createdAt >= a.createdAt).toBe(true)
})

function threeSteps(durably: Durably, executed: string[]) {
  return durably.defineJob({ name: 'three steps', input: anything, output: anything }, async (ctx) => {
    for (let step = 0; step < 3; step++) await ctx.run(`step ${step}`, async () => void executed.push(`${ctx.runId} ${step}`))
  })
}
