// Due times: delayed starts and durable sleeps. No slot is held, no process needs to live, and no poll is waited for.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { TriggerOptions } from '../../src/runs/trigger.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { logOf } from './run-log.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const HOUR = 3_600_000

describe.each(WORLDS)('trigger with a due time on %s', (world) => {
  test('starts at its time, not before, and without waiting for a poll', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const began = new Map<unknown, number>()
    const job = durably.defineJob({ name: 'job', input: anything }, async (_, payload) => void began.set(payload, env.wall() - start))
    const start = env.wall()
    durably.start()
    await env.advance(0)
    await job.trigger('delay', { delay: '90s' })
    await job.trigger('time', { runAt: new Date(start + 30_000) })
    await job.trigger('number', { runAt: start + 45_000 })
    await job.trigger('past', { runAt: start - 1000 })
    await job.trigger('zero', { delay: 0 })
    await env.advance(HOUR)
    expect([...began]).toEqual([
      ['past', 0],
      ['zero', 0],
      ['time', 30_000],
      ['number', 45_000],
      ['delay', 90_000],
    ])
  })

  test('a delayed run is pending and asleep, and starts on an instance that was opened later', async () => {
    const { durably, another, env, soon } = await setup(world)
    const define = (instance: typeof durably) => instance.defineJob({ name: 'job', input: anything }, async () => env.wall())
    const start = env.wall()
    const { id, runAt } = await define(durably).trigger(null, { delay: '1h' })
    expect(runAt).toBe(new Date(start + HOUR).toISOString())
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping' })
    expect(await soon(durably.processUntilIdle())).toBe(0)
    const heir = another({ pollingInterval: 10 * HOUR })
    define(heir)
    heir.start()
    await env.advance(2 * HOUR)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: start + HOUR })
  })

  test.each<[string, unknown]>([
    ['both', { delay: 1, runAt: 1 }],
    ['a negative delay', { delay: -1 }],
    ['NaN', { delay: Number.NaN }],
    ['Infinity', { delay: Number.POSITIVE_INFINITY }],
    ['a unit that is none', { delay: '5 parsecs' }],
    ['a bigint', { delay: 5n }],
    ['a symbol', { delay: Symbol('soon') }],
    ['null', { delay: null }],
    ['more than a hundred years', { delay: '6000w' }],
    ['an invalid Date', { runAt: new Date(Number.NaN) }],
    ['a time as a text', { runAt: '2025-01-01' }],
    ['no time', { runAt: null }],
    ['a time that no Date can show', { runAt: 9e15 }],
    ['a symbol as a time', { runAt: Symbol('then') }],
    ['an invalid deadline', { deadline: new Date(Number.NaN) }],
    ['a deadline in no unit', { deadline: 'soon' }],
  ])('%s is refused with a clear error, and nothing is stored', async (_, options) => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await expect(job.trigger(null, options as TriggerOptions)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await durably.getRuns()).toEqual([])
  })
})

describe.each(WORLDS)('sleep on %s', (world) => {
  test('frees its slot, goes on at its time, and the steps around it run once', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR, concurrency: 1 })
    const ran: [string, number][] = []
    const start = env.wall()
    const note = (what: string) => void ran.push([what, env.wall() - start])
    const job = durably.defineJob({ name: 'sleeper', input: anything }, async (ctx) => {
      await ctx.run('before', () => note('before'))
      await ctx.sleep('nap', '1h')
      await ctx.run('after', () => note('after'))
      return ctx.attempt
    })
    const other = durably.defineJob({ name: 'other', input: anything }, async () => note('other'))
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping', currentStepIndex: 1, recoveries: 0 })
    await other.trigger(null)
    await env.advance(2 * HOUR)
    expect(ran).toEqual([
      ['before', 0],
      ['other', 1000],
      ['after', HOUR],
    ])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1, attempts: 0 })
    expect(ofType(heard, 'run:wait').map(({ runAt }) => Date.parse(runAt) - start)).toEqual([HOUR])
  })

  test('has the events of a step, in the process and in the log', async () => {
    const { durably, store, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.sleep('nap', 1000))
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    const told = ['run:trigger', 'run:start', 'run:wait', 'run:start', 'step:complete', 'run:complete']
    expect(typesOf(heard)).toEqual(told)
    expect(typesOf(await logOf(store, id))).toEqual(told)
  })

  test('survives the process: whoever comes later goes on at its time', async () => {
    const { durably, another, env, soon } = await setup(world)
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.sleepUntil('then', new Date(start + HOUR))
        return env.wall() - start
      })
    const start = env.wall()
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(100)
    await soon(durably.stop())
    await env.advance(1000)
    const heir = another({ pollingInterval: 10 * HOUR })
    define(heir)
    heir.start()
    await env.advance(2 * HOUR)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: HOUR })
  })

  test('that was due while no worker lived is over when one comes', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.sleep('nap', 1000))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await env.advance(HOUR)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('is not begun again when the worker is lost after it', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const define = (instance: typeof durably, hangs: boolean) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.sleep('nap', HOUR)
        if (hangs) await new Promise(() => {})
        return env.wall() - start
      })
    const start = env.wall()
    const { id } = await define(durably, true).trigger(null)
    durably.start()
    await env.advance(HOUR + 1000)
    mortal.faults.die()
    const heir = another()
    define(heir, false)
    heir.start()
    await env.advance(40_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', recoveries: 1 })
    expect((await heir.getSteps(id)).map(({ name }) => name)).toEqual(['nap'])
  })

  test.each(['before', 'after'] as const)('its time stays when the reply to parking is lost %s it took effect', async (when) => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap, pollingInterval: 10 * HOUR })
    faults.fail('apply.park', { when, times: 3 })
    const start = env.wall()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.sleep('nap', HOUR)
      return env.wall() - start
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: HOUR })
  })

  test('a worker killed before it could park leaves a run that sleeps anew, and its steps stay', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    let steps = 0
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.run('once', () => void steps++)
        await ctx.sleep('nap', 1000)
      })
    const { id } = await define(durably).trigger(null)
    mortal.faults.fail('apply.park', { when: 'silent' })
    durably.start()
    await env.advance(100)
    mortal.faults.die()
    const heir = another()
    define(heir)
    heir.start()
    await env.advance(40_000)
    expect(steps).toBe(1)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('several at once: each ends at its own time', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const woke: [string, number][] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const nap = async (name: string, ms: number) => {
        await ctx.sleep(name, ms)
        await ctx.run(`${name} is over`, () => void woke.push([name, env.wall() - start]))
      }
      await Promise.all([nap('long', 3000), nap('short', 1000), nap('middle', 2000), nap('same', 2000)])
    })
    const start = env.wall()
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10_000)
    expect(woke).toEqual([
      ['short', 1000],
      ['middle', 2000],
      ['same', 2000],
      ['long', 3000],
    ])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('raced with a step: the step wins without waiting for the sleep', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const winner = await Promise.race([ctx.sleep('limit', HOUR).then(() => 'sleep'), ctx.run('work', () => 'step')])
      await ctx.run('go on', () => {})
      return winner
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'step' })
  })

  test('raced with a longer one: the shorter wins, and the longer is not waited for', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const race = [ctx.sleep('long', HOUR).then(() => 'long'), ctx.sleep('short', 1000).then(() => 'short')]
      return Promise.race(race)
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'short' })
  })

  test.each<[string, 'sleep' | 'sleepUntil', number | '0s']>([
    ['of no length', 'sleep', 0],
    ['of no length, written', 'sleep', '0s'],
    ['until a time that is past', 'sleepUntil', 1000],
  ])('%s is over at once, without parking', async (_, verb, when) => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      if (verb === 'sleep') await ctx.sleep('nap', when as 0)
      else await ctx.sleepUntil('nap', when as number)
      return 'awake'
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'awake' })
    expect(ofType(heard, 'run:wait')).toEqual([])
  })

  test.each<[string, unknown]>([
    ['a negative duration', -1],
    ['no duration', undefined],
    ['a word', 'soon'],
    ['NaN', Number.NaN],
    ['a bigint', 5n],
  ])('%s fails the step with a clear error', async (_, duration) => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.sleep('nap', duration as number))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'invalid_argument' } })
  })

  test('a name that was already called is refused, whichever call had it', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('x', () => {})
      await ctx.sleep('x', 1)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'duplicate_step' } })
  })

  test('cancel ends a sleeping run at once', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.sleep('nap', HOUR))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.cancel(id)).toBe('cancelled')
    await env.advance(2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('cancel while a sibling of the sleep is still at work ends the run when that has ended', async () => {
    const { durably, env } = await setup(world)
    const sibling = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      Promise.all([ctx.sleep('nap', HOUR), ctx.run('slow', () => sibling.opened)]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.cancel(id)).toBe('requested')
    await env.advance(10)
    sibling.open()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('cancel that comes with the parking itself is not slept over', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env } = await setup(world, { wrap, pollingInterval: 10 * HOUR })
    const release = faults.hold('apply.park')
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.sleep('nap', HOUR))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await another().cancel(id)).toBe('requested')
    release()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('stop() between the sleep and its parking keeps the time of the sleep', async () => {
    const { durably, another, env, within } = await setup(world)
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        const nap = ctx.sleep('nap', HOUR)
        await ctx.run('slow', ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())))
        await nap
        return env.wall() - start
      })
    const start = env.wall()
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(60_000)
    await within(1000, durably.stop({ timeout: 0 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    const heir = another()
    define(heir)
    heir.start()
    await env.advance(2 * HOUR)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: HOUR })
  })

  test('what has its record is not kept among the waits: a thousand sleeps do not make the row grow', async () => {
    const { durably, env, store } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 0; i < 30; i++) await ctx.sleep(`nap ${i}`, 10)
      await ctx.sleep('the last', HOUR)
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(60_000)
    const { waitingFor } = (await store.runs.get(id)) ?? {}
    expect(JSON.parse(waitingFor ?? '')).toMatchObject([{ name: 'the last' }])
  })
})
