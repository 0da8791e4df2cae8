import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/index.ts'
import { iso, sleep } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS, type World, type WorldName, type WorldOptions } from './world.ts'

const anything = z.unknown()
const REJECTED = 'the store rejects this'

/** A store whose writes take so long, and that rejects a certain value. */
async function slowly(name: WorldName, ms: number, options: WorldOptions = {}): Promise<World> {
  let place: World | undefined
  const wrap = (store: Store): Store => ({
    ...store,
    runs: {
      ...store.runs,
      async apply(writes) {
        if (place) await sleep(place.env, ms)
        if (writes.some(({ verb }) => verb.type === 'recordStep' && verb.step.output?.includes(REJECTED)))
          throw new DurablyError('store_rejected', 'it cannot be stored')
        return store.runs.apply(writes)
      },
    },
  })
  place = await setup(name, { ...options, wrap })
  return place
}

describe.each(WORLDS)('the lease on %s', (world) => {
  test('heartbeat_at is fresh at each step start, by the claim or the previous checkpoint, without a write of its own (000 §ワーカーの動作)', async () => {
    const watched = faulty()
    const { durably, env, soon, store } = await setup(world, { wrap: watched.wrap })
    const fresh: boolean[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (const name of ['a', 'b', 'c'])
        await ctx.run(name, async () => {
          fresh.push((await store.runs.get(ctx.runId))?.heartbeatAt === iso(env.wall()))
          await env.advance(3000)
        })
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(fresh).toEqual([true, true, true])
    expect(watched.faults.count('apply.heartbeat')).toBe(0)
  })

  test('is renewed every 5 s by default while a step runs, and never taken from a living worker (000 §heartbeat)', async () => {
    const watched = faulty()
    const { durably, another, env, store } = await setup(world, { wrap: watched.wrap })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('long', () => finish.opened))
    const { id } = await job.trigger(null)
    const rival = another()
    const heard = listenTo(rival)
    rival.defineJob({ name: 'job', input: anything }, async () => 'stolen')
    durably.start()
    await env.advance(10)
    rival.start()
    await env.advance(300_000)
    expect(watched.faults.count('apply.heartbeat')).toBe(60)
    const row = await store.runs.get(id)
    expect(env.wall() - Date.parse(row?.heartbeatAt ?? '')).toBeLessThanOrEqual(5000)
    finish.open()
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
    expect(heard).toEqual([])
  })

  test.each([{ heartbeatInterval: 1000 }, { staleThreshold: 3000 }])('is renewed every second with %o', async (options) => {
    const watched = faulty()
    const { durably, env } = await setup(world, { wrap: watched.wrap, ...options })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('long', () => new Promise<void>(() => {})))
    await job.trigger(null)
    durably.start()
    await env.advance(10_500)
    expect(watched.faults.count('apply.heartbeat')).toBe(10)
  })

  test('lasts three heartbeats when only their interval is given and the default would be shorter (000 §設定項目)', async () => {
    const leaseWith = async (options: Pick<DurablyOptions, 'heartbeatInterval' | 'staleThreshold'>) => {
      const { durably, store, env } = await setup(world, options)
      const job = durably.defineJob({ name: 'job', input: anything }, () => new Promise<void>(() => {}))
      const { id } = await job.trigger(null)
      durably.start()
      await env.advance(0)
      return ((await store.runs.get(id))?.leaseExpiresAt ?? 0) - env.wall()
    }
    expect(await leaseWith({})).toBe(30_000)
    expect(await leaseWith({ heartbeatInterval: 20_000 })).toBe(60_000)
    expect(await leaseWith({ heartbeatInterval: 2000 })).toBe(30_000)
    expect(await leaseWith({ heartbeatInterval: 20_000, staleThreshold: 45_000 })).toBe(45_000)
    const day = 24 * 60 * 60 * 1000
    expect(await leaseWith({ heartbeatInterval: day / 2 })).toBe(day)
  })

  test('beats go on while the job is between steps', async () => {
    const watched = faulty()
    const { durably, env } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => {})
      await new Promise<void>((resolve) => void env.timer(60_000, resolve))
      await ctx.run('two', () => {})
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(61_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(watched.faults.count('apply.heartbeat')).toBeGreaterThanOrEqual(11)
  })

  test('no beat comes after the run has ended', async () => {
    const watched = faulty()
    const { durably, env } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null)
    durably.start()
    await env.advance(60_000)
    expect(watched.faults.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply.complete'])
  })

  test('a failing heartbeat is reported, tried again, and the run goes on (peer: renewal rejects)', async () => {
    const failing = faulty()
    const { durably, env } = await setup(world, { wrap: failing.wrap })
    const heard = listenTo(durably)
    failing.faults.fail('apply.heartbeat', { when: 'before', times: 5 })
    failing.faults.fail('apply.heartbeat', { when: 'after', times: 2 })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('long', () => finish.opened))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(40_000)
    finish.open()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
    const errors = ofType(heard, 'worker:error')
    expect(errors).toHaveLength(7)
    expect(errors[0]).toMatchObject({ runId: id, cause: { code: 'store_unavailable' } })
  })

  test('a beat that waits behind many records of its run is not late while those are accepted (H2)', async () => {
    const { durably, env } = await slowly(world, 2000)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const steps = Array.from({ length: 100 }, (_, i) => ctx.run(`step ${i}`, () => i))
      await sleep(env, 100)
      // A beat shall bring it, and waits behind the records.
      ctx.progress(1)
      await Promise.all(steps)
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(300_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
    expect(ofType(heard, 'worker:error')).toEqual([])
    expect(ofType(heard, 'run:start')).toHaveLength(1)
  })

  test('no run loses it because the store rejects data of others that were written with it (B4)', async () => {
    const { durably, env } = await slowly(world, 1000, { concurrency: 100 })
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx, i) => ctx.run('step', () => (i % 40 === 20 ? REJECTED : i)))
    await job.batchTrigger(Array.from({ length: 100 }, (_, i) => ({ payload: i })))
    durably.start()
    await env.advance(60_000)
    const failed = await durably.getRuns({ status: 'failed' })
    expect(failed.map(({ payload }) => payload).sort()).toEqual([20, 60])
    expect(await durably.getRuns({ status: 'completed', limit: 100 })).toHaveLength(98)
    expect(ofType(heard, 'run:start')).toHaveLength(100)
  })

  test('a store that fails for a whole lease loses it: the signal aborts, the run is not failed (R6)', async () => {
    const failing = faulty()
    const { durably, env, store } = await setup(world, { wrap: failing.wrap })
    failing.faults.fail('apply.heartbeat', { when: 'before', times: Number.POSITIVE_INFINITY })
    const reason = gate<unknown>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => {
        signal.addEventListener('abort', () => reason.open(signal.reason))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    )
    const { id } = await job.trigger(null)
    void durably.processOne()
    await env.advance(36_000)
    expect(await reason.opened).toMatchObject({
      code: 'lease_lost',
      message: expect.stringMatching(/for a whole lease, 30000 ms \(staleThreshold\); its next worker goes on from the last recorded step/),
    })
    expect(await store.runs.get(id)).toMatchObject({ status: 'running', error: null })
    expect(await store.steps.list(id)).toEqual([])
  })

  test('a store that never answers loses it as well', async () => {
    const failing = faulty()
    const { durably, env } = await setup(world, { wrap: failing.wrap })
    failing.faults.fail('apply.heartbeat', { when: 'silent', times: Number.POSITIVE_INFINITY })
    const reason = gate<unknown>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => {
        signal.addEventListener('abort', () => reason.open(signal.reason))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    )
    await job.trigger(null)
    const done = durably.processOne()
    await env.advance(31_000)
    expect(await reason.opened).toMatchObject({ code: 'lease_lost' })
    expect(await done).toBe(true)
  })

  test('a store that answers one beat late and no other loses it a lease after that beat was sent (H2)', async () => {
    let place: World | undefined
    let beats = 0
    const wrap = (store: Store): Store => ({
      ...store,
      runs: {
        ...store.runs,
        async apply(writes) {
          if (place && writes.some(({ verb }) => verb.type === 'heartbeat'))
            await (beats++ === 0 ? sleep(place.env, 28_000) : gate().opened)
          return store.runs.apply(writes)
        },
      },
    })
    place = await setup(world, { wrap })
    const { durably, env } = place
    const abortedAt = gate<number>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => {
      // A beat brings it within 100 ms.
      ctx.progress(1)
      return ctx.run('long', ({ signal }) => {
        signal.addEventListener('abort', () => abortedAt.open(env.mono()))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      })
    })
    await job.trigger(null)
    const claimedAt = env.mono()
    void durably.processOne()
    await env.advance(70_000)
    expect((await abortedAt.opened) - claimedAt).toBe(30_100)
  })
})
