import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, next, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('the worker on %s', (world) => {
  test('drains a backlog without a polling pause between runs, oldest first (000 §ワーカーの動作)', async () => {
    const { durably, env, soon } = await setup(world)
    const order: number[] = []
    const job = durably.defineJob({ name: 'job', input: z.number() }, async (_, n) => void order.push(n))
    await job.batchTrigger(Array.from({ length: 50 }, (_, i) => ({ payload: i })))
    const last = new Promise<void>((resolve) => void durably.on('run:complete', () => order.length === 50 && resolve()))
    const began = env.mono()
    durably.start()
    await soon(last)

    expect(env.mono() - began).toBe(0)
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })

  test('is woken at once by trigger when it was idle', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    durably.start()
    await env.advance(5500)
    const completed = next(durably, 'run:complete')
    await job.trigger(null)
    await soon(completed)
  })

  test('finds runs of other processes by polling, by default once a second (000 §設定項目)', async () => {
    const watched = faulty()
    const { durably, another, env } = await setup(world, { wrap: watched.wrap })
    let ran = 0
    durably.defineJob({ name: 'job', input: anything }, async () => void ran++)
    const elsewhere = another().defineJob({ name: 'job', input: anything }, async () => {})
    durably.start()
    await env.advance(0)
    watched.faults.calls.length = 0
    for (let second = 0; second < 10; second++) await env.advance(1000)
    expect(watched.faults.calls).toEqual(Array.from({ length: 10 }, () => 'runs.probe'))
    await elsewhere.trigger(null)
    await env.advance(999)
    expect(ran).toBe(0)
    await env.advance(1)
    expect(ran).toBe(1)
  })

  test('processes one run at a time by default (000 §ワーカー)', async () => {
    const { durably, env, soon } = await setup(world)
    const began: number[] = []
    const gates = [gate(), gate()]
    const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx, n) =>
      ctx.run('wait', () => {
        began.push(n)
        return gates[n]?.opened
      }),
    )
    await job.batchTrigger([{ payload: 0 }, { payload: 1 }])
    durably.start()
    await env.advance(3000)
    expect(began).toEqual([0])
    gates[0]?.open()
    await env.idle()
    expect(began).toEqual([0, 1])
    gates[1]?.open()
    await soon(durably.stop())
  })

  test.each([
    [1, 1],
    [4, 7],
  ])('a worker of %i slots that has a backlog holds %i runs at most while ends are not stored (K5)', async (concurrency, most) => {
    const stored = faulty()
    const { durably, env, soon } = await setup(world, { concurrency, wrap: stored.wrap })
    const heldFrom = 8
    const began: number[] = []
    let release = () => {}
    const job = durably.defineJob({ name: 'job', input: z.number() }, async (_, n) => {
      if (n === heldFrom) release = stored.faults.hold('apply.complete')
      began.push(n)
    })
    await job.batchTrigger(Array.from({ length: 40 }, (_, i) => ({ payload: i })))
    durably.start()
    await env.advance(100)
    expect(began).toEqual(Array.from({ length: heldFrom + most }, (_, i) => i))
    release()
    await env.advance(1000)
    expect(began).toHaveLength(40)
    await soon(durably.stop())
  })

  test('a plugin that does not wait for the runs around which it is makes no room for more of them (K5)', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 4 })
    durably.use({
      name: 'impatient',
      install: (host) => host.wrapRun(({ labels }, next) => (labels ? Promise.race([next(), Promise.resolve()]) : next())),
    })
    let active = 0
    let most = 0
    const job = durably.defineJob({ name: 'job', input: z.number() }, async (ctx) => {
      most = Math.max(most, ++active)
      await ctx.run('wait', () => new Promise<void>((resolve) => void env.timer(10, resolve)))
      active--
    })
    durably.start()
    for (let i = 0; i < 3; i++) await job.trigger(i, { labels: { is: 'abandoned' } })
    await env.advance(1000)
    most = 0
    await job.batchTrigger(Array.from({ length: 40 }, (_, i) => ({ payload: i })))
    await env.advance(1000)
    expect({ most, active }).toEqual({ most: 4, active: 0 })
    await soon(durably.stop())
  })

  test('never executes more than `concurrency` runs at once, and refills a slot as soon as it is free', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 3 })
    const gates = Array.from({ length: 10 }, () => gate())
    const open = new Set<number>()
    const began: number[] = []
    let most = 0
    const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx, n) =>
      ctx.run('wait', async () => {
        began.push(n)
        open.add(n)
        most = Math.max(most, open.size)
        await gates[n]?.opened
        open.delete(n)
      }),
    )
    await job.batchTrigger(gates.map((_, i) => ({ payload: i })))
    durably.start()
    await env.advance(2000)
    expect(began).toEqual([0, 1, 2])
    gates[1]?.open()
    await env.idle()
    expect(began).toEqual([0, 1, 2, 3])
    for (const { open } of gates) open()
    await env.idle()
    expect(began).toHaveLength(10)
    expect(most).toBe(3)
    await soon(durably.stop())
  })

  test('never claims a job it has not registered: the run waits and is not failed (peer P18)', async () => {
    const { durably, another, env } = await setup(world)
    const heard = listenTo(durably)
    durably.defineJob({ name: 'known', input: anything }, async () => {})
    const elsewhere = another()
    const unknown = elsewhere.defineJob({ name: 'unknown', input: anything }, async () => 'done')
    const { id } = await unknown.trigger(null)
    durably.start()
    await env.advance(60_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    expect(heard).toEqual([])
    elsewhere.start()
    await env.advance(0)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('an unknown job ahead in the queue does not hold up the known ones', async () => {
    const { durably, another, soon } = await setup(world)
    const known = durably.defineJob({ name: 'known', input: anything }, async () => 1)
    const unknown = another().defineJob({ name: 'unknown', input: anything }, async () => 2)
    await unknown.batchTrigger(Array.from({ length: 30 }, () => ({ payload: null })))
    const { id } = await known.trigger(null)
    expect(await soon(durably.processUntilIdle())).toBe(1)
    expect(await known.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('takes up a job that is defined while it runs', async () => {
    const { durably, another, env } = await setup(world)
    const early = another().defineJob({ name: 'late', input: anything }, async () => {})
    const { id } = await early.trigger(null)
    durably.start()
    await env.advance(1000)
    durably.defineJob({ name: 'late', input: anything }, async () => 'done')
    await env.advance(0)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('start() twice is one worker, and start() after stop() works again', async () => {
    const watched = faulty()
    const { durably, env, soon } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    durably.start()
    durably.start()
    await env.advance(0)
    watched.faults.calls.length = 0
    for (let second = 0; second < 10; second++) await env.advance(1000)
    expect(watched.faults.count('runs.probe')).toBe(10)
    await soon(durably.stop())
    await env.advance(10_000)
    expect(watched.faults.count('runs.probe')).toBe(10)
    durably.start()
    const completed = next(durably, 'run:complete')
    await job.trigger(null)
    await soon(completed)
  })

  test('has at most one timer while it is idle', async () => {
    const { durably, another, env, soon } = await setup(world)
    const timers = new Set<unknown>()
    const { timer, clear } = env
    env.timer = (ms, fn) => {
      const handle = timer(ms, () => {
        timers.delete(handle)
        fn()
      })
      timers.add(handle)
      return handle
    }
    env.clear = (handle) => {
      timers.delete(handle)
      clear(handle)
    }
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    durably.start()
    for (let i = 0; i < 5; i++) {
      await job.trigger(null)
      await env.advance(1300)
      await another().getRuns()
      expect(timers.size).toBe(1)
    }
    await soon(durably.stop())
    expect(timers.size).toBe(0)
  })

  test('a run that keeps a held key due does not make it spin', async () => {
    const watched = faulty()
    const { durably, another, env } = await setup(world, { wrap: watched.wrap, concurrency: 2 })
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('wait', () => new Promise<void>(() => {})))
    const holder = another()
    const elsewhere = define(holder)
    await elsewhere.trigger(null, { concurrencyKey: 'key' })
    holder.start()
    await env.advance(100)
    await define(durably).trigger(null, { concurrencyKey: 'key' })
    durably.start()
    await env.advance(10_000)
    expect(watched.faults.count('runs.claim')).toBeLessThanOrEqual(12)
    expect(watched.faults.count('runs.probe')).toBeLessThanOrEqual(24)
  })

  test('events of other people’s trouble: a listener hears nothing of runs elsewhere', async () => {
    const { durably, another, soon } = await setup(world)
    const heard = listenTo(durably)
    const elsewhere = another()
    const job = elsewhere.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null)
    await soon(elsewhere.processUntilIdle())
    expect(ofType(heard, 'run:complete')).toEqual([])
  })
})
