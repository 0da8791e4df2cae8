import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { createTaskQueue } from '../../src/tasks/index.ts'
import { setup, WORLDS } from './world.ts'

describe.each(WORLDS)('purge and TTL (%s)', (world) => {
  test('purge removes what finished longer ago than that, and nothing that waits', async () => {
    const { env, queue, settle } = await setup(world, { maxAttempts: 1 })
    queue.register({ taskType: 'works', execute: () => {} })
    queue.register({ taskType: 'fails', execute: () => Promise.reject(new Error('no')) })
    for (const taskType of ['works', 'fails', 'unknown']) await queue.enqueue({ taskType, payload: null })
    await queue.cancel((await queue.enqueue({ taskType: 'unknown', payload: null })).id)
    queue.start()
    await settle()
    await env.advance(60_000)
    await queue.enqueue({ taskType: 'works', payload: 'later' })
    await settle()
    expect(await queue.purge({ olderThan: '1m', state: 'Dead' })).toBe(1)
    expect(await queue.countsByState()).toMatchObject({ Queued: 1, Succeeded: 2, Dead: 0, Cancelled: 1 })
    expect(await queue.purge({ olderThan: '1m' })).toBe(2)
    expect(await queue.countsByState()).toMatchObject({ Queued: 1, Succeeded: 1, Cancelled: 0 })
    await expect(queue.purge({ olderThan: 0, state: 'Queued' as never })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('with a TTL finished tasks go by themselves', async () => {
    const { env, queue, settle } = await setup(world, { retention: { ttl: '10m' } })
    queue.register({ taskType: 'works', execute: () => {} })
    queue.start()
    const { id } = await queue.enqueue({ taskType: 'works', payload: null })
    await queue.enqueue({ taskType: 'unknown', payload: null })
    await settle()
    await env.advance(599_000)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded' })
    await env.advance(61_000)
    expect(await queue.getStatus(id)).toBeNull()
    expect(await queue.countsByState()).toMatchObject({ Queued: 1 })
  })

  test('a stopped queue sets no timers', async () => {
    const { env, queue, soon } = await setup(world, { retention: { ttl: '1s' } })
    queue.start()
    await env.advance(1500)
    await soon(queue.stop())
    expect(env.nextInMs()).toBeNull()
  })
})

describe('the bound of the memory', () => {
  test('the oldest finished tasks are dropped first; those that wait never', async () => {
    const { queue, settle } = await setup('memory', { retention: { max: 3 }, maxAttempts: 1 })
    queue.register({ taskType: 'works', execute: () => {} })
    queue.register({ taskType: 'fails', execute: () => Promise.reject(new Error('no')) })
    for (let n = 0; n < 5; n++) await queue.enqueue({ taskType: 'unknown', payload: n })
    const ids: string[] = []
    for (let n = 0; n < 6; n++) ids.push((await queue.enqueue({ taskType: n % 2 ? 'fails' : 'works', payload: n })).id)
    queue.start()
    await settle()
    const kept = await Promise.all(ids.map((id) => queue.getStatus(id)))
    expect(kept.map((task) => task?.state ?? null)).toEqual([null, null, null, 'Dead', 'Succeeded', 'Dead'])
    expect(await queue.countsByState()).toMatchObject({ Queued: 5 })
  })

  test('a task that was redriven is finished anew, so it is the newest', async () => {
    const { env, queue, settle } = await setup('memory', { retention: { max: 2 }, maxAttempts: 1 })
    let isBroken = true
    queue.register({
      taskType: 'repaired',
      execute() {
        if (isBroken) throw new Error('broken')
      },
    })
    const [a, b] = [await queue.enqueue({ taskType: 'repaired', payload: 1 }), await queue.enqueue({ taskType: 'repaired', payload: 2 })]
    queue.start()
    await settle()
    isBroken = false
    await env.advance(1)
    await queue.redrive(a.id)
    await settle()
    const c = await queue.enqueue({ taskType: 'repaired', payload: 3 })
    await settle()
    expect(await queue.getStatus(b.id)).toBeNull()
    expect(await queue.getStatus(a.id)).toMatchObject({ state: 'Succeeded' })
    expect(await queue.getStatus(c.id)).toMatchObject({ state: 'Succeeded' })
  })

  test('it is 10,000 by default', async () => {
    const { queue, settle, env } = await setup('memory', { concurrency: 100, logger: () => {} })
    queue.register({ taskType: 'works', execute: () => {} })
    const first = await queue.enqueue({ taskType: 'works', payload: 0 })
    for (let n = 1; n < 10_050; n++) await queue.enqueue({ taskType: 'works', payload: n })
    queue.start()
    for (let n = 0; n < 20; n++) await settle()
    await env.advance(10)
    expect(await queue.countsByState()).toMatchObject({ Succeeded: 10_000, Queued: 0, Running: 0 })
    expect(await queue.getStatus(first.id)).toBeNull()
  })

  test('nothing is kept with 0, everything with Infinity', async () => {
    for (const [max, kept] of [
      [0, 0],
      [Number.POSITIVE_INFINITY, 4],
    ] as const) {
      const { queue, settle } = await setup('memory', { retention: { max } })
      queue.register({ taskType: 'works', execute: () => {} })
      for (let n = 0; n < 4; n++) await queue.enqueue({ taskType: 'works', payload: n })
      queue.start()
      await settle()
      expect(await queue.countsByState()).toMatchObject({ Succeeded: kept, Queued: 0 })
    }
  })

  test('options that could not be kept are refused', () => {
    const refused = expect.objectContaining({ code: 'invalid_config' })
    expect(() => createTaskQueue({ store: memoryStore(), retention: { max: 5 } })).toThrow(refused)
    expect(() => createTaskQueue({ dialect: sqlite(':memory:'), retention: { max: 5 } })).toThrow(refused)
    expect(() => createTaskQueue({ retention: { max: -1 } })).toThrow(refused)
    for (const maxAttempts of [0, 2.5, Number.NaN, -1]) expect(() => createTaskQueue({ maxAttempts })).toThrow(refused)
    expect(() => createTaskQueue({ retry: 5 as never })).toThrow(refused)
    expect(() => createTaskQueue({ retention: { ttl: 'soon' as never } })).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})
