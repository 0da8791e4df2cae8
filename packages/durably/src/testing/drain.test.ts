import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../durably.ts'
import { memoryStore } from '../memory.ts'
import { sleep } from '../model/env.ts'
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

  test('has nothing to do when there is nothing', async () => {
    const { env, durably } = setup()
    expect(await drain(durably, env)).toBe(0)
    expect(env.mono()).toBe(0)
  })

  test('names what can never run here', async () => {
    const { env, store, durably } = setup()
    const elsewhere = createDurably({ store, env }).defineJob({ name: 'elsewhere', input: nothing }, () => {})
    const { id } = await elsewhere.trigger({})
    await expect(drain(durably, env)).rejects.toThrow(`run ${id} of job "elsewhere" is pending`)
  })
})
