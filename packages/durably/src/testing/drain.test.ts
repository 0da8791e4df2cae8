import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../durably.ts'
import { memoryStore } from '../memory.ts'
import { sleep } from '../model/env.ts'
import { retry } from '../model/retry-policy.ts'
import { drain } from './drain.ts'
import { virtualEnv } from './virtual-env.ts'

function setup() {
  const env = virtualEnv()
  const store = memoryStore({ env })
  return { env, store, durably: createDurably({ store, env }) }
}

const nothing = z.object({})

describe('drain', () => {
  test('runs everything there is, as much virtual time as it takes', async () => {
    const { env, durably } = setup()
    const job = durably.defineJob({ name: 'slow', input: nothing }, (ctx) => ctx.run('wait', () => sleep(env, 3_600_000)))
    const runs = await job.batchTrigger([{ payload: {} }, { payload: {} }])
    expect(await drain(durably, env)).toBe(2)
    for (const { id } of runs) expect((await durably.getRun(id))?.status).toBe('completed')
    expect(env.mono()).toBeGreaterThanOrEqual(7_200_000)
  })

  test('runs what runs have triggered', async () => {
    const { env, durably } = setup()
    const second = durably.defineJob({ name: 'second', input: nothing }, () => {})
    const first = durably.defineJob({ name: 'first', input: nothing }, (ctx) =>
      ctx.run('trigger', async () => (await second.trigger({})).id),
    )
    await first.trigger({})
    expect(await drain(durably, env)).toBe(2)
  })

  test('waits for the lease of a lost worker, then takes its run over', async () => {
    const { env, store, durably } = setup()
    const job = durably.defineJob({ name: 'job', input: nothing }, () => 'done')
    const { id } = await job.trigger({})
    await store.runs.claim({ jobNames: ['job'], tokens: ['lost'], leaseMs: 30_000 })
    expect(await drain(durably, env)).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 1 })
    expect(env.mono()).toBe(30_000)
  })

  test('waits for steps that take real time', async () => {
    const { env, durably } = setup()
    const job = durably.defineJob({ name: 'io', input: nothing }, (ctx) =>
      ctx.run('read', () => new Promise<number>((resolve) => setTimeout(resolve, 5, 1))),
    )
    const { id } = await job.trigger({})
    expect(await drain(durably, env)).toBe(1)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
  })

  test('goes through sleeps, delays and pauses before retries of any length', async () => {
    const { env, durably } = setup()
    let tries = 0
    const job = durably.defineJob({ name: 'trial', input: nothing, retry: retry.fixed({ maxAttempts: 2, delay: '30d' }) }, async (ctx) => {
      await ctx.sleep('trial period', '14d')
      await ctx.run('charge', () => {
        if (++tries === 1) throw new Error('declined')
      })
      await ctx.sleep('year', '365d')
    })
    const { id } = await job.trigger({}, { delay: '60d' })
    expect(await drain(durably, env)).toBe(4)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(env.mono()).toBe((60 + 14 + 30 + 365) * 86_400_000)
  })

  test('names a run that waits for a signal that nobody sends', async () => {
    const { env, durably } = setup()
    const job = durably.defineJob({ name: 'approval', input: nothing }, (ctx) => ctx.waitFor('approve'))
    const { id } = await job.trigger({})
    await expect(drain(durably, env)).rejects.toThrow(
      new RegExp(`not every run has ended.\\nRun ${id} of job "approval" waits for signal "approve".*\\nSomebody must send it`),
    )
  })

  test('has nothing to do when there is nothing', async () => {
    const { env, durably } = setup()
    expect(await drain(durably, env)).toBe(0)
    expect(env.mono()).toBe(0)
  })

  test('names what can never run here', async () => {
    const { env, store, durably } = setup()
    const elsewhere = createDurably({ store, env }).defineJob({ name: 'elsewhere', input: nothing }, () => {})
    const { id } = await elsewhere.trigger({})
    await expect(drain(durably, env)).rejects.toThrow(`Run ${id} of job "elsewhere" is due, but this process has no job of that name`)
  })
})
