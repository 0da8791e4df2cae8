// durably.health(): the store, the worker, and how long the oldest due run has waited.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { iso } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const REACHED = { isReachable: true, isMigrated: true, error: null }

function asking(oldestDue: Store['runs']['oldestDue']) {
  return (store: Store): Store => ({ ...store, runs: { ...store.runs, oldestDue } })
}

describe.each(WORLDS)('health on %s', (name) => {
  test('without a worker the process lives and is not ready; with one it is both', async () => {
    const { durably, env, soon } = await setup(name)
    durably.defineJob({ name: 'job', input: anything }, () => 1)
    const before = await soon(durably.health())
    expect(before).toMatchObject({ isAlive: true, isReady: false, store: { ...REACHED, answeredInMs: 0 }, oldestDue: null })
    expect(before.worker).toStrictEqual({ isStarted: false, isLeading: false, slots: 1, busySlots: 0, stuckSlots: 0, silentMs: null })
    durably.start()
    await env.advance(60_000)
    const { isAlive, isReady, worker } = await soon(durably.health())
    expect([isAlive, isReady, worker.isStarted, worker.isLeading]).toStrictEqual([true, true, true, true])
    expect(worker.silentMs).toBeLessThanOrEqual(1000)
  })

  test('the oldest due run of the jobs that are defined here, and how late it is', async () => {
    const { durably, env, soon } = await setup(name)
    const job = durably.defineJob({ name: 'job', input: anything }, () => 1)
    await soon(job.trigger(null, { delay: '1h' }))
    expect((await soon(durably.health())).oldestDue).toBeNull()
    const { id } = await soon(job.trigger(null))
    const dueAt = iso(env.wall())
    await env.advance(90_000)
    await soon(job.trigger(null))
    expect((await soon(durably.health())).oldestDue).toStrictEqual({ runId: id, jobName: 'job', dueAt, lagMs: 90_000 })
    await soon(durably.processUntilIdle())
    expect((await soon(durably.health())).oldestDue).toBeNull()
  })

  test('a store that rejects or does not answer is not reachable; the worker tries again, so the process lives', async () => {
    const fault = new DurablyError('store_unavailable', 'connection refused')
    const down = await setup(name, { wrap: asking(() => Promise.reject(fault)) })
    down.durably.start()
    const unavailable = { isReachable: false, isMigrated: null, answeredInMs: null }
    expect(await down.soon(down.durably.health())).toMatchObject({
      ...{ isAlive: true, isReady: false, store: { ...unavailable, error: 'connection refused' } },
    })
    const silent = await setup(name, { wrap: asking(() => new Promise(() => {})) })
    expect(await silent.within(3000, silent.durably.health())).toMatchObject({
      ...{ isReady: false, store: { ...unavailable, error: expect.stringContaining('2000 ms') } },
    })
  })

  test('a worker whose loop stands still is not alive', async () => {
    const wrap = (store: Store): Store => ({ ...store, runs: { ...store.runs, probe: () => new Promise(() => {}) } })
    const { durably, env, soon } = await setup(name, { wrap })
    durably.defineJob({ name: 'job', input: anything }, () => 1)
    durably.start()
    await env.advance(30_000)
    expect(await soon(durably.health())).toMatchObject({ isAlive: true })
    await env.advance(10_000)
    expect(await soon(durably.health())).toMatchObject({ isAlive: false, store: REACHED, worker: { silentMs: 40_000 } })
  })

  test('slots whose functions do not stop are reported, and when no other is left the process is not alive', async () => {
    const { durably, env, soon } = await setup(name, { concurrency: 2 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('deaf', () => new Promise(() => {})))
    const stuck = async () => {
      const { id } = await soon(job.trigger(null))
      await env.advance(2000)
      await soon(durably.cancel(id))
      await env.advance(60_000)
      return soon(durably.health())
    }
    durably.start()
    expect(await stuck()).toMatchObject({ isAlive: true, worker: { busySlots: 1, stuckSlots: 1, slots: 2 } })
    expect(await stuck()).toMatchObject({ isAlive: false, worker: { busySlots: 2, stuckSlots: 2 } })
  })
})

test('a database without tables is not migrated', async () => {
  await using durably = createDurably({ dialect: sqlite(':memory:') })
  const { isReady, store } = await durably.health()
  expect([isReady, store.isReachable, store.isMigrated]).toStrictEqual([false, true, false])
  expect(store.error).toContain('durably.migrate()')
  await durably.migrate()
  expect((await durably.health()).store).toMatchObject(REACHED)
})
