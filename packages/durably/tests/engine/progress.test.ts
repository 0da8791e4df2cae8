import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

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

  test('rides on the next write of the run: no write of its own between quick steps', async () => {
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

  test('of a long step becomes visible to others within a second, merged into one write', async () => {
    const watched = faulty()
    const { durably, store, env, soon } = await setup(world, { wrap: watched.wrap })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        for (let i = 1; i <= 100; i++) ctx.progress(i, 100)
        await finish.opened
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ progress: { current: 100 } })
    expect(watched.faults.count('apply.heartbeat')).toBe(1)
    expect(await store.events.list(id)).toHaveLength(103)
    finish.open()
    await soon(durably.stop())
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

  test('a call that leaves total or message out keeps the earlier ones, and tells so (000 §進捗管理)', async () => {
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
      { current: 0, total: 100, message: 'Starting...' },
      { current: 10, total: 100, message: 'Fetched users' },
      { current: 45, total: 100, message: 'Fetched users' },
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

  test('run:progress tells each call at once', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.progress(1)
      ctx.progress(2, 4)
      expect(ofType(heard, 'run:progress').map(({ progress }) => progress)).toEqual([{ current: 1 }, { current: 2, total: 4 }])
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 2, total: 4 } })
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
})
