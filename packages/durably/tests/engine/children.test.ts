// Child runs: triggered once, waited for without a slot, cancelled with their parent.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import type { Store } from '../../src/store/store.ts'
import { faulty } from './faulty-store.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const HOUR = 3_600_000

/** How many runs each `create` was asked for, and how many of these calls were under way at once. */
function watchCreates() {
  const sizes: number[] = []
  let underWay = 0
  const watched = {
    sizes,
    mostAtOnce: 0,
    wrap: (store: Store): Store => ({
      ...store,
      runs: {
        ...store.runs,
        async create(runs, options) {
          sizes.push(runs.length)
          watched.mostAtOnce = Math.max(watched.mostAtOnce, ++underWay)
          try {
            return await store.runs.create(runs, options)
          } finally {
            underWay--
          }
        },
      },
    }),
  }
  return watched
}

const MINUTE = 60_000

function defineDouble(durably: Durably) {
  return durably.defineJob({ name: 'double', input: z.number(), output: z.number() }, async (ctx, n) => {
    if (n < 0) throw new Error(`${n} is negative`)
    return ctx.run('double', () => n * 2)
  })
}

describe.each(WORLDS)('child runs on %s', (world) => {
  test('invoke returns the output of the child; with one slot there is no deadlock, and no poll is waited for', async () => {
    const { durably, env } = await setup(world, { concurrency: 1, pollingInterval: 10 * HOUR })
    const double = defineDouble(durably)
    const parent = durably.defineJob({ name: 'parent', input: z.number() }, async (ctx, n) => {
      const once = await ctx.invoke(double, n)
      const twice: number = await ctx.invoke(double, once)
      return twice
    })
    const { id } = await parent.trigger(3)
    durably.start()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 12 })
    expect(await double.getRuns()).toMatchObject([{ parentRunId: id }, { parentRunId: id }])
    expect((await durably.getSteps(id)).map(({ name, output }) => [name, output])).toEqual([
      ['invoke double', 6],
      ['invoke double 2', 12],
    ])
  })

  test('trigger goes on at once; the child is there once, however often the parent is executed', async () => {
    const { durably, env } = await setup(world)
    const double = defineDouble(durably)
    const ids: string[] = []
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
      ids.push((await ctx.trigger(double, 1)).id)
      ids.push((await ctx.trigger(double, 2, { name: 'the second', concurrencyKey: 'k' })).id)
      await ctx.sleep('nap', 1000)
    })
    await parent.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(ids).toHaveLength(4)
    expect(ids.slice(2)).toEqual(ids.slice(0, 2))
    expect((await double.getRuns()).map((run) => [run.output, run.concurrencyKey])).toEqual([
      [4, 'k'],
      [2, null],
    ])
  })

  test.each(['invoke', 'trigger'] as const)('%s: a key that a caller made to look like the child’s changes nothing', async (verb) => {
    const { durably, env } = await setup(world)
    const double = defineDouble(durably)
    const parent = durably.defineJob(
      { name: 'parent', input: anything },
      (ctx): Promise<unknown> => (verb === 'invoke' ? ctx.invoke(double, 21, { name: 'kid' }) : ctx.trigger(double, 21, { name: 'kid' })),
    )
    const { id } = await parent.trigger(null)
    const forged = await double.trigger(-1, { idempotencyKey: `${id}/kid` })
    durably.start()
    await env.advance(1000)
    const [child] = (await double.getRuns()).filter(({ id }) => id !== forged.id)
    expect(child).toMatchObject({ output: 42, idempotencyKey: null, parentRunId: id })
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: verb === 'invoke' ? 42 : { id: child?.id } })
    expect(await durably.getRun(forged.id)).toMatchObject({ status: 'failed', parentRunId: null })
  })

  test('a step of 512 bytes can trigger a child', async () => {
    const { durably, env } = await setup(world)
    const double = defineDouble(durably)
    const name = 'ß'.repeat(256)
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(double, 21, { name }))
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 42 })
  })

  test('a child that ended long ago is kept for a parent that could not go on, and is not run again', async () => {
    const { durably, another, env, soon } = await setup(world)
    const kids = another({ retention: '1m' })
    let runs = 0
    const defineKid = (instance: Durably) => instance.defineJob({ name: 'kid', input: anything, output: z.number() }, async () => ++runs)
    const kid = defineKid(durably)
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(kid, null))
    const { id } = await parent.trigger(null)
    expect(await soon(durably.processOne())).toBe(true)
    defineKid(kids)
    kids.start()
    await env.advance(5 * MINUTE)
    const [child] = await kid.getRuns()
    const refused = await durably.deleteRun(child?.id ?? '').catch((error) => error)
    expect(refused).toMatchObject({ code: 'run_active', message: expect.stringContaining(id), runId: child?.id })
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    await env.advance(5 * MINUTE)
    expect(await durably.getRuns()).toEqual([])
  })

  test('while it waits for a child, the parent is waiting', async () => {
    const { durably, env } = await setup(world)
    const never = durably.defineJob({ name: 'never', input: anything }, (ctx) => ctx.waitFor('go'))
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(never, null))
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
  })

  test.each(['invoke', 'trigger'] as const)('%s: a worker killed between the child and its record triggers no second one', async (verb) => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const define = (instance: Durably) => {
      const double = defineDouble(instance)
      const parent = instance.defineJob(
        { name: 'parent', input: anything },
        (ctx): Promise<unknown> => (verb === 'invoke' ? ctx.invoke(double, 21) : ctx.trigger(double, 21)),
      )
      return { double, parent }
    }
    const { parent } = define(durably)
    const { id } = await parent.trigger(null)
    mortal.faults.fail(verb === 'invoke' ? 'apply.park' : 'apply.recordStep', { when: 'silent' })
    durably.start()
    await env.advance(1000)
    mortal.faults.die()
    const heir = another()
    const { double } = define(heir)
    expect(await double.getRuns()).toHaveLength(1)
    heir.start()
    await env.advance(60_000)
    const [child, ...others] = await double.getRuns()
    expect(others).toEqual([])
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: verb === 'invoke' ? 42 : { id: child?.id } })
  })

  test('a child that failed, or was cancelled, rejects with its run; the job may catch it', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const double = defineDouble(durably)
    const never = durably.defineJob({ name: 'never', input: anything }, (ctx) => ctx.waitFor('go'))
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
      const failed = await ctx.invoke(double, -1).catch((error: Error & { code: string }) => [error.code, error.message])
      const cancelled = await ctx.invoke(never, null).catch((error: { code: string }) => error.code)
      return [failed, cancelled]
    })
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(100)
    const [waiting] = await never.getRuns()
    await durably.cancel(waiting?.id ?? '')
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({
      status: 'completed',
      output: [['run_failed', expect.stringContaining('-1 is negative')], 'run_cancelled'],
    })
  })

  test.each(['before', 'after'] as const)(
    'a store that fails %s a child is stored is no failure of the job, and makes no second child',
    async (when) => {
      const { wrap, faults } = faulty()
      const { durably, env } = await setup(world, { wrap })
      const double = defineDouble(durably)
      const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
        await ctx.trigger(double, 1)
        return ctx.invoke(double, 2)
      })
      const { id } = await parent.trigger(null)
      faults.fail('runs.create', { when, times: 2 })
      faults.fail('runs.create', { when, skip: 1, times: 2 })
      durably.start()
      await env.advance(20_000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 4 })
      expect(await double.getRuns()).toHaveLength(2)
    },
  )

  test('an input that the child’s schema refuses fails the step', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const double = defineDouble(durably)
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(double, 'text' as unknown as number))
    const { id } = await parent.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'invalid_input' } })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'invoke double' }])
  })

  test('cancelling the parent cancels its children, their children, and those that sleep', async () => {
    const { durably, env } = await setup(world, { concurrency: 5 })
    const sleeper = durably.defineJob({ name: 'sleeper', input: anything }, (ctx) => ctx.sleep('nap', HOUR))
    const busy = durably.defineJob({ name: 'busy', input: anything }, (ctx) =>
      ctx.run('work', ({ signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    )
    const middle = durably.defineJob({ name: 'middle', input: anything }, (ctx) => ctx.invoke(sleeper, null))
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) =>
      Promise.all([ctx.invoke(middle, null), ctx.invoke(busy, null), ctx.trigger(sleeper, null)]),
    )
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(100)
    await durably.cancel(id)
    await env.advance(10_000)
    const runs = await durably.getRuns()
    expect(runs.map(({ jobName, status }) => `${jobName} ${status}`).sort()).toEqual([
      'busy cancelled',
      'middle cancelled',
      'parent cancelled',
      'sleeper cancelled',
      'sleeper cancelled',
    ])
  })

  test('a cancel whose client dies after its commit leaves nobody behind, and for those that sleep it is emitted at once', async () => {
    const { durably, store, env } = await setup(world, { pollingInterval: 10 * HOUR, concurrency: 5 })
    const sleeper = durably.defineJob({ name: 'sleeper', input: anything }, (ctx) => ctx.sleep('nap', HOUR))
    const middle = durably.defineJob({ name: 'middle', input: anything }, (ctx) => ctx.invoke(sleeper, null))
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) =>
      Promise.all([ctx.invoke(middle, null), ctx.invoke(sleeper, null)]),
    )
    const [one, other] = [await parent.trigger(null), await parent.trigger(null)]
    durably.start()
    await env.advance(100)
    const heard = listenTo(durably)
    await store.runs.cancel(one.id)
    expect(await durably.getRuns({ status: 'cancelled' })).toHaveLength(4)
    await durably.cancel(other.id)
    expect(await durably.getRuns({ status: 'cancelled' })).toHaveLength(8)
    expect(ofType(heard, 'run:cancel').map(({ jobName }) => jobName)).toEqual(['parent', 'middle', 'sleeper', 'sleeper'])
  })

  test('the child of a parent that failed is kept for its retry, and goes with it in one purge', async () => {
    const { durably, env } = await setup(world)
    let runs = 0
    const kid = durably.defineJob({ name: 'kid', input: anything }, async () => ++runs)
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
      const child = await ctx.trigger(kid, null)
      await ctx.invoke(kid, null)
      if (runs > 0) throw new Error(child.id)
    })
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.purge({ olderThan: 0, status: 'completed' })).toBe(0)
    const [child] = await kid.getRuns()
    await expect(durably.deleteRun(child?.id ?? '')).rejects.toMatchObject({
      code: 'run_active',
      message: expect.stringContaining(`run ${id}, which is failed`),
    })
    await durably.retry(id)
    await env.advance(1000)
    expect(runs).toBe(2)
    expect(await durably.purge({ olderThan: 0 })).toBe(3)
  })

  test('a cancelled run with a child that goes on is not deleted, and says why', async () => {
    const { durably, store, env } = await setup(world)
    const busy = durably.defineJob({ name: 'busy', input: anything }, () => new Promise(() => {}))
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(busy, null))
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(1000)
    await store.runs.cancel(id)
    expect(await durably.purge({ olderThan: 0 })).toBe(0)
    await expect(durably.deleteRun(id)).rejects.toMatchObject({ code: 'run_active', message: expect.stringContaining('it triggered') })
  })

  test('many in parallel, nested', async () => {
    const { durably, env } = await setup(world, { concurrency: 2, pollingInterval: 10 * HOUR })
    const sum = durably.defineJob({ name: 'sum', input: z.number(), output: z.number() }, async (ctx, depth): Promise<number> => {
      if (depth === 0) return 1
      const parts = await Promise.all([1, 2, 3].map(() => ctx.invoke(sum, depth - 1)))
      return parts.reduce((a, b) => a + b, 0)
    })
    const { id } = await sum.trigger(3)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 27 })
    expect(await sum.getRuns()).toHaveLength(40)
  })

  test.each(['invoke', 'trigger'] as const)(
    '%s: five hundred at once go to the store a hundred at a time, one call after the other, and are not read again',
    async (verb) => {
      const { wrap, faults } = faulty()
      const watched = watchCreates()
      const { durably, env } = await setup(world, { wrap: (store) => wrap(watched.wrap(store)), concurrency: 1 })
      const double = defineDouble(durably)
      const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
        await Promise.all(
          Array.from({ length: 500 }, (_, i): Promise<unknown> => (verb === 'invoke' ? ctx.invoke(double, i) : ctx.trigger(double, i))),
        )
      })
      const { id } = await parent.trigger(null)
      await env.advance(1)
      const first = durably.processOne()
      await env.advance(20_000)
      await first
      expect(watched.sizes).toEqual([1, 100, 100, 100, 100, 100])
      expect(watched.mostAtOnce).toBe(1)
      expect(faults.count('runs.get')).toBe(0)
      expect((await durably.getRun(id))?.currentStepIndex).toBe(verb === 'invoke' ? 0 : 500)
      expect(await double.getRuns()).toHaveLength(500)
    },
  )

  test('an input that is refused fails its own step; its neighbours have their children', async () => {
    const { durably, env } = await setup(world)
    const double = defineDouble(durably)
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
      const inputs = [1, 'text' as unknown as number, 3]
      const results = await Promise.allSettled(inputs.map((input, i) => ctx.invoke(double, input, { name: `kid ${i}` })))
      return results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.code))
    })
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ output: [2, 'invalid_input', 6] })
  })

  test('the input of a child is read once in an execution, however often the store was away', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    let reads = 0
    const counted = z.number().refine(() => ++reads > 0)
    const child = durably.defineJob({ name: 'child', input: counted }, (ctx) => ctx.waitFor('go'))
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(child, 1))
    await parent.trigger(null)
    faults.fail('runs.create', { when: 'before', times: 3 })
    durably.start()
    await env.advance(20_000)
    expect(await child.getRuns()).toMatchObject([{ phase: 'waiting' }])
    expect(reads).toBe(1)
  })

  test('a job that hands on what it was asked for can be triggered as a child', async () => {
    const { durably, another, env } = await setup(world)
    const double = defineDouble(another())
    defineDouble(durably)
    const lookAlike = { name: 'by two', trigger: (n: number, options?: object) => double.trigger(n + 1, { ...options }) }
    const forgetful = { name: 'forgetful', trigger: (n: number) => double.trigger(n) }
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => [
      await ctx.invoke(lookAlike, 20),
      await ctx.invoke(forgetful, 1).catch((error: Error) => error.message),
    ])
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({
      output: [42, expect.stringMatching(/"forgetful" has triggered no run.*; its trigger\(\) must hand on the options/)],
    })
  })

  test('a job of another database is a clear error, not an endless wait', async () => {
    const { durably, env } = await setup(world)
    const elsewhere = await setup(world)
    // Another seed would do as well: its ids must not be ours.
    for (let i = 0; i < 10; i++) elsewhere.env.id()
    const double = defineDouble(elsewhere.durably)
    const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(double, 1))
    const { id } = await parent.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'run_not_found', message: expect.stringContaining('a child must be defined on the same database') },
    })
  })
})
