// Clocks that stand still and clocks that jump: no sleep is over too soon, no deadline is missed or brought forward.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JobContext } from '../../src/model/job.ts'
import { retry } from '../../src/model/retry-policy.ts'
import type { Store } from '../../src/store/store.ts'
import type { VirtualEnv } from '../../src/testing/virtual-env.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RETRY_IN_30M = retry.fixed({ maxAttempts: 2, delay: '30m' })

/** All that waits for half an hour from now. */
const DELAYS: [string, (ctx: JobContext) => Promise<unknown>][] = [
  ['ctx.sleep', (ctx) => ctx.sleep('nap', '30m').then(() => 'done')],
  ['the timeout of ctx.waitFor', (ctx) => ctx.waitFor('word', { timeout: '30m' }).catch(() => 'done')],
  ['the delay of a step', (ctx) => tryTwice(ctx)],
  ['the delay of a job', (ctx) => (ctx.attempt === 1 ? Promise.reject(new Error('once')) : Promise.resolve('done'))],
]
const BESIDE_A_FAILURE = DELAYS.filter(([name]) => name === 'ctx.sleep' || name === 'the delay of a step')

/** A process whose own wall clock can be adjusted; the store's clock is another, as with Postgres. */
async function adjustable(world: WorldName, wrap: (store: Store) => Store = (store) => store) {
  const built = await setup(world)
  let offMs = 0
  const env = { ...built.env, wall: () => built.env.wall() + offMs }
  const durably = built.another({ env, wrap })
  const adjust = (ms: number) => {
    offMs += ms
  }
  return { ...built, durably, adjust }
}

describe.each(WORLDS)('the machine sleeps for an hour inside a step on %s', (world) => {
  /** Its wall clock and the store's go on, its monotonic clock and its timers stand still. */
  const sleepsThen = async (rest: (ctx: JobContext) => Promise<unknown>, deadline?: '10m' | '2h') => {
    const built = await setup(world)
    const { durably, env } = built
    const job = durably.defineJob({ name: 'job', input: anything, retry: RETRY_IN_30M }, async (ctx) => {
      await ctx.run('work', () => env.jump(HOUR))
      return rest(ctx)
    })
    const { id } = await job.trigger(null, deadline && { deadline })
    durably.start()
    await env.advance(1000)
    return { ...built, id }
  }

  test.each(DELAYS)('%s is not over too soon', async (_, rest) => {
    const { durably, env, id } = await sleepsThen(rest)
    await env.advance(29 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    await env.advance(2 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('the deadline is over: no function begins after it', async () => {
    let began = false
    const { durably, id } = await sleepsThen(
      (ctx) =>
        ctx.run('late', () => {
          began = true
        }),
      '10m',
    )
    expect(began).toBe(false)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('the deadline is over: what returns after it does not complete the run', async () => {
    const { durably, id } = await sleepsThen(async () => 'too late', '10m')
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('the deadline is over: the signal of a running function aborts with the next heartbeat', async () => {
    const { durably, env } = await setup(world)
    const told = gate<unknown>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('work', ({ signal }) => {
        env.jump(HOUR)
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            told.open(signal.reason)
            reject(signal.reason)
          }),
        )
      }),
    )
    const { id } = await job.trigger(null, { deadline: '10m' })
    durably.start()
    await env.advance(11_000)
    expect(await told.opened).toMatchObject({ code: 'timeout' })
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('the deadline is over when the answer to a claim is heard: no function begins after it', async () => {
    const { durably, env, another } = await setup(world)
    const definition = { name: 'job', input: anything }
    const { id } = await durably.defineJob(definition, async () => {}).trigger(null, { deadline: '10m' })
    const asleep = another({
      wrap: (store) => ({
        ...store,
        runs: new Proxy(store.runs, {
          get: (runs, verb) => {
            if (verb !== 'claim') return Reflect.get(runs, verb)
            return async (...request: Parameters<typeof runs.claim>) => {
              const claimed = await runs.claim(...request)
              env.jump(claimed.length > 0 ? HOUR : 0)
              return claimed
            }
          },
        }),
      }),
    })
    let began = false
    asleep.defineJob(definition, async () => {
      began = true
    })
    asleep.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(began).toBe(false)
  })

  /** The store takes a while to say what time it is, the first time perhaps longer. */
  const slowToTell =
    (env: VirtualEnv, firstMs = 10) =>
    (store: Store) => {
      let ms = firstMs
      const get = (id: string) => {
        const answer = new Promise((resolve) => env.timer(ms, () => resolve(store.runs.get(id))))
        ms = 10
        return answer
      }
      return { ...store, runs: new Proxy(store.runs, { get: (runs, verb) => (verb === 'get' ? get : Reflect.get(runs, verb)) }) }
    }

  test.each(BESIDE_A_FAILURE)('%s counts from its call, although the job fails before the store says what time it is', async (_, rest) => {
    const { durably: first, env, another } = await setup(world)
    const durably = another({ wrap: slowToTell(env, 2000) })
    const policy = retry.fixed({ maxAttempts: 2, delay: '20m' })
    const job = durably.defineJob({ name: 'job', input: anything, retry: policy }, async (ctx) => {
      await ctx.run('work', () => env.jump(HOUR))
      const fails = ctx.run('fails once', ({ attempt }) => {
        if (attempt === 1) throw new Error('once')
      })
      return (await Promise.all([rest(ctx), fails]))[0]
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(29 * MINUTE)
    expect(await first.getRun(id)).toMatchObject({ status: 'pending', attempts: 1 })
    await env.advance(2 * MINUTE)
    expect(await first.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('a job that has returned completes, although it has a deadline and left a wait behind', async () => {
    const { durably: first, env, another } = await setup(world)
    const durably = another({ wrap: slowToTell(env) })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await Promise.race([ctx.waitFor('never'), ctx.run('work', () => 'first')])
      await ctx.run('more', () => env.jump(HOUR))
      return 'done'
    })
    const { id } = await job.trigger(null, { deadline: '2h' })
    durably.start()
    await env.advance(1000)
    expect(await first.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('a deadline that is still ahead is not brought forward', async () => {
    const { durably, id } = await sleepsThen((ctx) => ctx.run('in time', () => 'done'), '2h')
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })
})

function tryTwice(ctx: JobContext): Promise<unknown> {
  return ctx.run('try', { retry: RETRY_IN_30M }, ({ attempt }) => {
    if (attempt === 1) throw new Error('once')
    return 'done'
  })
}

describe.each(WORLDS)('the clock of a process is adjusted on %s, the store’s is not', (world) => {
  test.each([HOUR, -HOUR])('by %d ms: a sleep is not over too soon', async (ms) => {
    const { durably, env, adjust } = await adjustable(world)
    const start = env.wall()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('work', () => adjust(ms))
      await ctx.sleepUntil('until', start + 30 * MINUTE)
      await ctx.sleep('nap', '10m')
      return 'done'
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(39 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    await env.advance(HOUR + 2 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test.each(DELAYS.flatMap(([name, rest]) => [HOUR, -HOUR].map((ms) => [ms, name, rest] as const)))(
    'by %d ms: %s takes as long as it was asked to',
    async (ms, _, rest) => {
      const { durably, env, adjust } = await adjustable(world)
      const job = durably.defineJob({ name: 'job', input: anything, retry: RETRY_IN_30M }, async (ctx) => {
        await ctx.run('work', () => adjust(ms))
        return rest(ctx)
      })
      const { id } = await job.trigger(null)
      durably.start()
      await env.advance(29 * MINUTE)
      expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
      await env.advance(2 * MINUTE)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
    },
  )

  test.each([HOUR, -HOUR])('by %d ms: a deadline is neither brought forward nor missed', async (ms) => {
    const { durably, env, adjust } = await adjustable(world)
    const begun: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('work', () => adjust(ms))
      await ctx.run('in time', ({ signal }) => {
        begun.push('in time')
        return new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
      await ctx.run('late', () => void begun.push('late'))
    })
    const { id } = await job.trigger(null, { deadline: '10m' })
    durably.start()
    await env.advance(9 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    await env.advance(2 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(begun).toEqual(['in time'])
  })

  test.each([HOUR, -HOUR])('by %d ms: the duration of a run is that of the store’s clock, for listeners and in the log', async (ms) => {
    const { durably, env, adjust } = await adjustable(world)
    const heard: number[] = []
    durably.on('run:complete', ({ duration }) => heard.push(duration))
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('work', () => adjust(ms))
      await ctx.run('rest', () => new Promise<void>((resolve) => env.timer(2000, resolve)))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    const { startedAt, finishedAt } = (await durably.getRun(id)) ?? {}
    const took = Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '')
    expect(took).toBeGreaterThanOrEqual(2000)
    expect(heard).toEqual([took])
  })

  test.each([HOUR, -HOUR])('by %d ms: the timeout of a job counts the time it works', async (ms) => {
    const { durably, env, adjust } = await adjustable(world)
    const job = durably.defineJob({ name: 'job', input: anything, timeout: '10m' }, async (ctx) => {
      await ctx.run('work', () => adjust(ms))
      await ctx.run('long', ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(9 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    await env.advance(2 * MINUTE)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })
})

describe.each(WORLDS)('the store’s clock jumps before it tells a process what time it is on %s', (world) => {
  test.each(DELAYS.flatMap(([name, rest]) => [HOUR, -HOUR].map((ms) => [ms, name, rest] as const)))(
    'by %d ms: %s counts from what it tells',
    async (ms, _, rest) => {
      const { env, another, durably: first } = await setup(world)
      let offMs = 0
      let isAsked = false
      const jumping = (store: Store) => ({
        ...store,
        runs: new Proxy(store.runs, {
          get: (runs, verb) => {
            if (verb !== 'apply') return Reflect.get(runs, verb)
            return (writes: Parameters<typeof runs.apply>[0]) => {
              if (!isAsked && writes.some((write) => write.verb.type === 'heartbeat')) {
                isAsked = true
                env.jump(ms)
                offMs -= ms
              }
              return runs.apply(writes)
            }
          },
        }),
      })
      const durably = another({ env: { ...env, wall: () => env.wall() + offMs }, wrap: jumping })
      const job = durably.defineJob({ name: 'job', input: anything, retry: RETRY_IN_30M }, async (ctx) => {
        await ctx.run('work', () => {
          offMs += 2 * HOUR
        })
        return rest(ctx)
      })
      const { id } = await job.trigger(null)
      durably.start()
      await env.advance(29 * MINUTE)
      expect(isAsked).toBe(true)
      expect(await first.getRun(id)).toMatchObject({ status: 'pending' })
      await env.advance(2 * MINUTE)
      expect(await first.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
    },
  )
})

describe.each(WORLDS)('the machine sleeps for an hour and the clock of its process is set back on %s', (world) => {
  const SET_BACK = [-2 * HOUR, -HOUR / 2]

  test.each(SET_BACK)('by %d ms: no function begins after the deadline', async (ms) => {
    const { durably, env, adjust } = await adjustable(world)
    let began = false
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('work', () => {
        env.jump(HOUR)
        adjust(ms)
      })
      await ctx.run('late', () => {
        began = true
      })
    })
    const { id } = await job.trigger(null, { deadline: '50m' })
    durably.start()
    await env.advance(1000)
    expect(began).toBe(false)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test.each(SET_BACK)('by %d ms: no function of a run that was taken over begins', async (ms) => {
    const { durably, env, adjust, another, soon } = await adjustable(world)
    const heir = another({ wrap: (store) => store })
    const begun: string[] = []
    const asleep = gate()
    const definition = { name: 'job', input: anything }
    const job = durably.defineJob(definition, async (ctx) => {
      await asleep.opened
      await ctx.run('work', () => void begun.push('owner'))
    })
    heir.defineJob(definition, (ctx) => ctx.run('work', () => void begun.push('heir')))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    env.jump(HOUR)
    adjust(ms)
    await soon(heir.processUntilIdle())
    asleep.open()
    await env.advance(1000)
    expect(begun).toEqual(['heir'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })
})

test.each(WORLDS)('a clock that is set forward gives an owner no more time while the store is silent, on %s', async (world) => {
  const { wrap, faults } = faulty()
  const { durably, env, adjust } = await adjustable(world, wrap)
  const abortedAt = gate<number>()
  const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
    ctx.run('work', ({ signal }) => new Promise(() => signal.addEventListener('abort', () => abortedAt.open(env.mono())))),
  )
  await job.trigger(null)
  durably.start()
  await env.advance(1000)
  const claimedAt = env.mono() - 1000
  faults.fail('apply.heartbeat', { when: 'silent', times: 100 })
  adjust(HOUR)
  await env.advance(60_000)
  expect((await abortedAt.opened) - claimedAt).toBeLessThanOrEqual(31_000)
})
