import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { withLogPersistence } from '../../src/plugins/index.ts'
import type { VirtualEnv } from '../../src/testing/virtual-env.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

const pause = (env: VirtualEnv, ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))

describe.each(WORLDS)('progress on %s', (world) => {
  test('can be read from the run, total and message left out where not given (000 §進捗管理)', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.array(z.unknown()) }, async (ctx, args) => {
      ctx.progress(...(args as [number, number?, string?]))
    })
    const runs = await job.batchTrigger([{ payload: [45, 100, 'Fetched users'] }, { payload: [3, 9] }, { payload: [0.5] }])
    await soon(durably.processUntilIdle())
    const found = await Promise.all(runs.map(async ({ id }) => (await job.getRun(id))?.progress))
    expect(found).toEqual([{ current: 45, total: 100, message: 'Fetched users' }, { current: 3, total: 9 }, { current: 0.5 }])
  })

  test('is part of the next write of the run: no write of its own between quick steps', async () => {
    const watched = faulty()
    const { durably, soon } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 1; i <= 10; i++) {
        await ctx.run(`step ${i}`, () => ctx.progress(i, 10))
        expect(await durably.getRun(ctx.runId)).toMatchObject({ progress: { current: i } })
      }
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(watched.faults.count('apply.heartbeat')).toBe(0)
    expect(watched.faults.count('apply.recordStep')).toBe(10)
  })

  test('of a run that records steps often has no write of its own, whenever the calls come', async () => {
    const watched = faulty()
    const { durably, env } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 1; i <= 20; i++) {
        ctx.progress(i, 20)
        await ctx.run(`step ${i}`, () => pause(env, 60))
      }
    })
    await job.trigger(null)
    durably.start()
    await env.advance(2000)
    expect(watched.faults.count('apply.heartbeat')).toBe(0)
    expect(watched.faults.count('apply.recordStep')).toBe(20)
  })

  test('of a long step becomes visible to others within 100 ms, merged into one write and one event', async () => {
    const watched = faulty()
    const { durably, another, store, env, soon } = await setup(world, { wrap: watched.wrap })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        for (let i = 1; i <= 10_000; i++) ctx.progress(i, 10_000)
        await finish.opened
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await another().getRun(id)).toMatchObject({ progress: { current: 10_000 } })
    expect(watched.faults.count('apply.heartbeat')).toBe(1)
    expect((await store.events.list(id)).map(({ type }) => type)).toEqual(['run:trigger', 'run:start', 'step:start', 'run:progress'])
    finish.open()
    await soon(durably.stop())
  })

  test('that changes all the time is never more than 100 ms behind, with ten writes and ten events a second', async () => {
    const watched = faulty()
    const { durably, another, store, env } = await setup(world, { wrap: watched.wrap })
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        for (let ms = 0; ms < 3000; ms += 5) {
          ctx.progress(ms, 3000)
          await pause(env, 5)
        }
      }),
    )
    const { id } = await job.trigger(null)
    const reader = another()
    durably.start()
    await env.advance(100)
    for (let ms = 100; ms < 3000; ms += 50) {
      const { current = 0 } = (await reader.getRun(id))?.progress ?? {}
      expect(current, `after ${ms} ms`).toBeGreaterThanOrEqual(ms - 105)
      await env.advance(50)
    }
    await env.advance(100)
    expect(await reader.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 2995 } })
    const told = (await store.events.list(id)).filter(({ type }) => type === 'run:progress')
    const lines = (await reader.getLogs(id)).filter(({ message }) => message === 'run:progress')
    expect(watched.faults.count('apply.heartbeat')).toBeLessThanOrEqual(30)
    expect(told.length).toBeLessThanOrEqual(31)
    expect(lines).toHaveLength(told.length)
  })

  test('that is reported while the store is slow to answer is written once it has answered', async () => {
    const watched = faulty()
    const { durably, another, env } = await setup(world, { wrap: watched.wrap })
    const answer = watched.faults.hold('apply.heartbeat')
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        ctx.progress(1)
        await pause(env, 150)
        ctx.progress(2)
        await finish.opened
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(watched.faults.count('apply.heartbeat')).toBe(1)
    answer()
    await env.advance(1)
    expect(await another().getRun(id)).toMatchObject({ progress: { current: 2 } })
    expect(watched.faults.count('apply.heartbeat')).toBe(2)
    finish.open()
    await env.idle()
  })

  test('is stored with the end of the execution: when the run completes, fails, waits or is given back', async () => {
    const { durably, env, soon, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.string() }, async (ctx, how) => {
      for (let i = 1; i <= 7; i++) ctx.progress(i)
      if (how === 'fail') throw new Error('bad')
      if (how === 'sleep') await ctx.sleep('nap', '1d')
      if (how === 'wait') await ctx.waitFor('signal')
      if (how === 'stop') await ctx.run('long', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)))
    })
    const runs = await job.batchTrigger(['complete', 'fail', 'sleep', 'wait'].map((payload) => ({ payload })))
    await soon(durably.processUntilIdle())
    runs.push(await job.trigger('stop'))
    durably.start()
    await env.advance(10)
    await within(2000, durably.stop({ timeout: 0 }))
    const found = await Promise.all(runs.map(async ({ id }) => job.getRun(id)))
    expect(found.map((run) => run?.status)).toEqual(['completed', 'failed', 'pending', 'pending', 'pending'])
    expect(found.map((run) => run?.progress)).toEqual(Array.from(found, () => ({ current: 7 })))
  })

  test('is kept when the run is resumed by another worker, and when the run fails (000 §進捗管理)', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => ctx.progress(5, 10, 'half'))
      await ctx.run('two', () => new Promise(() => {}))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    mortal.faults.die()
    const heir = another()
    const atStart = gate<unknown>()
    heir.defineJob({ name: 'job', input: anything }, async () => {
      atStart.open((await heir.getRun(id))?.progress)
      throw new Error('bad')
    })
    heir.start()
    await env.advance(31_000)
    expect(await atStart.opened).toEqual({ current: 5, total: 10, message: 'half' })
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', progress: { current: 5, total: 10, message: 'half' } })
  })

  test('a call that leaves total or message out keeps the earlier ones, and emits them (000 §進捗管理)', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.progress(0, 100, 'Starting...')
      await ctx.run('fetch', () => ctx.progress(10, undefined, 'Fetched users'))
      ctx.progress(45)
      ctx.progress(46, 200)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(ofType(heard, 'run:progress').map(({ progress }) => progress)).toEqual([
      { current: 10, total: 100, message: 'Fetched users' },
      { current: 46, total: 200, message: 'Fetched users' },
    ])
    expect((await job.getRun(id))?.progress).toEqual({ current: 46, total: 200, message: 'Fetched users' })
  })

  test('what an earlier execution said stays, too', async () => {
    const { durably, soon } = await setup(world)
    let isFirst = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => ctx.progress(5, 10, 'half'))
      if (isFirst) throw new Error('bad')
      ctx.progress(6)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    isFirst = false
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    expect((await job.getRun(id))?.progress).toEqual({ current: 6, total: 10, message: 'half' })
  })

  test('run:progress has what is stored: the last call before each write', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.progress(1)
      await ctx.run('step', () => ctx.progress(2, 4))
      expect(ofType(heard, 'run:progress').map(({ progress }) => progress)).toEqual([{ current: 2, total: 4 }])
      ctx.progress(3)
      ctx.progress(4)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(ofType(heard, 'run:progress').map(({ progress }) => progress)).toEqual([
      { current: 2, total: 4 },
      { current: 4, total: 4 },
    ])
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 4, total: 4 } })
  })

  test('that is no number is the job’s error, with its values named', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => ctx.progress(Number.NaN, 10))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_argument' },
      error: expect.stringContaining('got current NaN and total 10'),
    })
  })

  test('a message that cannot be stored is refused once, and not kept for the next call', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.unknown() }, async (ctx) => {
      ctx.progress(1, 10, 'one')
      expect(() => ctx.progress(2, 10, (() => {}) as unknown as string)).toThrow('progress')
      ctx.progress(3)
      await ctx.run('step', () => null)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 3, total: 10, message: 'one' } })
  })
})
