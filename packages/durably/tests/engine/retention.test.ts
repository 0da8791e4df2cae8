// What becomes of runs that ended: counted, purged by hand, and let go of by the worker.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { faulty } from './faulty-store.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function defineJob(durably: Durably) {
  return durably.defineJob(
    { name: 'job', input: z.enum(['completes', 'fails', 'sleeps', 'waits', 'hangs', 'retries']) },
    async (ctx, what) => {
      await ctx.run('step', () => {})
      if (what === 'fails') throw new Error('no')
      if (what === 'sleeps') await ctx.sleep('nap', '300d')
      if (what === 'waits') await ctx.waitFor('signal')
      if (what === 'hangs') await new Promise(() => {})
      if (what === 'retries')
        await ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: '300d' }) }, () => Promise.reject(new Error('no')))
    },
  )
}

describe.each(WORLDS)('countsByPhase on %s', (world) => {
  test('counts every run in the phase that a person sees', async () => {
    const { durably, env } = await setup(world, { concurrency: 2 })
    const job = defineJob(durably)
    const none = await durably.countsByPhase()
    expect(Object.values(none).every((count) => count === 0)).toBe(true)
    for (const what of ['completes', 'completes', 'fails', 'sleeps', 'waits', 'retries', 'hangs'] as const) await job.trigger(what)
    const { id } = await job.trigger('completes', { delay: '1h' })
    await durably.cancel(id)
    await job.trigger('completes', { delay: '1h' })
    durably.start()
    await env.advance(1000)
    expect(await durably.countsByPhase()).toEqual({
      pending: 0,
      sleeping: 3,
      waiting: 1,
      running: 1,
      cancelling: 0,
      stale: 0,
      confirming: 0,
      assigned: 0,
      orphaned: 0,
      completed: 2,
      failed: 1,
      cancelled: 1,
    })
  })
})

describe.each(WORLDS)('purge on %s', (world) => {
  test('removes what ended before, by status and limit, and nothing that lives', async () => {
    const { durably, store, env, soon } = await setup(world)
    const job = defineJob(durably)
    const old = await job.batchTrigger((['completes', 'fails', 'sleeps', 'completes'] as const).map((payload) => ({ payload })))
    await soon(durably.processUntilIdle())
    await env.advance(DAY)
    const { id: young } = await job.trigger('completes')
    await soon(durably.processUntilIdle())
    expect(await durably.purge({ olderThan: '2d' })).toBe(0)
    expect(await durably.purge({ olderThan: '12h', status: 'completed', limit: 1 })).toBe(1)
    expect(await durably.getRun(old[0]?.id ?? '')).toBe(null)
    expect(await durably.purge({ olderThan: '12h', status: ['completed', 'cancelled'] })).toBe(1)
    expect(await durably.purge({ olderThan: '12h' })).toBe(1)
    expect((await durably.getRuns()).map(({ id }) => id)).toEqual([young, old[2]?.id])
    expect(await store.steps.list(old[0]?.id ?? '')).toEqual([])
    expect(await durably.purge({ olderThan: 0 })).toBe(1)
  })

  test.each<[string, object]>([
    ['a status that lives', { olderThan: 1, status: 'running' }],
    ['a limit of none', { olderThan: 1, limit: 0 }],
    ['no age', {}],
  ])('%s is refused', async (_, options) => {
    const { durably } = await setup(world)
    await expect(durably.purge(options as { olderThan: 1 })).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe.each(WORLDS)('retention on %s', (world) => {
  test('the worker removes runs that ended so long ago, all of them, though it never has anything else to do', async () => {
    const { durably, env } = await setup(world, { retention: '2h', pollingInterval: DAY })
    const job = defineJob(durably)
    await job.batchTrigger(Array.from({ length: 450 }, () => ({ payload: 'completes' as const })))
    const { id: sleeping } = await job.trigger('sleeps')
    durably.start()
    await env.advance(10_000)
    expect(await durably.countsByPhase()).toMatchObject({ completed: 450, sleeping: 1 })
    await env.advance(2 * HOUR - 60_000)
    expect(await durably.countsByPhase()).toMatchObject({ completed: 450 })
    await env.advance(50_000 + 65_000)
    expect(await durably.countsByPhase()).toMatchObject({ completed: 0, sleeping: 1 })
    expect(await durably.getRun(sleeping)).toMatchObject({ status: 'pending' })
  })

  test('by status: what is not named is kept', async () => {
    const { durably, env, soon } = await setup(world, { retention: { completed: '1d', cancelled: 0 } })
    const job = defineJob(durably)
    await job.batchTrigger((['completes', 'fails'] as const).map((payload) => ({ payload })))
    const { id } = await job.trigger('completes', { delay: '9d' })
    await durably.cancel(id)
    await soon(durably.processUntilIdle())
    expect(await durably.countsByPhase()).toMatchObject({ completed: 1, failed: 1, cancelled: 0 })
    await env.advance(2 * DAY)
    await soon(durably.processUntilIdle())
    expect(await durably.countsByPhase()).toMatchObject({ completed: 0, failed: 1 })
  })

  test('asks once a minute at most, however busy the worker is', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap, retention: '1d', pollingInterval: 100 })
    const job = defineJob(durably)
    durably.start()
    for (let i = 0; i < 10; i++) {
      await job.trigger('completes')
      await env.advance(1000)
    }
    expect(faults.count('runs.purge')).toBe(1)
    await env.advance(60_000)
    expect(faults.count('runs.purge')).toBe(2)
  })

  test('a database that fails it is reported, and the work goes on', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap, retention: 0 })
    faults.fail('runs.purge', { when: 'before' })
    const heard = listenTo(durably)
    const job = defineJob(durably)
    const { id } = await job.trigger('fails')
    durably.start()
    await env.advance(5000)
    expect(ofType(heard, 'worker:error')).toHaveLength(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed' })
    await env.advance(60_000)
    expect(await durably.getRun(id)).toBe(null)
  })
})

test.each<unknown>(['soon', -1, null, { running: '1d' }, { completed: 'soon' }])('retention %j is refused', (retention) => {
  expect(() => createDurably({ store: memoryStore(), retention } as DurablyOptions)).toThrow(/retention/)
})
