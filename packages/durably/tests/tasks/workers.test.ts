import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { createTaskQueue } from '../../src/tasks/index.ts'
import { gate } from '../engine/gate.ts'
import { temporaryFile } from '../sql/place.ts'
import { setup, WORLDS } from './world.ts'

describe.each(WORLDS)('workers (%s)', (world) => {
  test('enqueue wakes them: no time passes (003 §notify)', async () => {
    const { queue, settle, env } = await setup(world)
    const executed: unknown[] = []
    queue.register({ taskType: 'note', execute: (payload) => executed.push(payload) })
    queue.start()
    await env.advance(10_000)
    await queue.enqueue({ taskType: 'note', payload: 'now' })
    await settle()
    expect(executed).toEqual(['now'])
  })

  test('a change of the schedule wakes them: delay, runAt, and one that is due sooner', async () => {
    const { queue, env } = await setup(world)
    const executed: unknown[] = []
    queue.register({ taskType: 'note', execute: (payload) => executed.push([payload, env.mono()]) })
    queue.start()
    await env.advance(0)
    const late = await queue.enqueue({ taskType: 'note', payload: 'late', delay: '20s' })
    expect(late).toMatchObject({ state: 'Queued', attempts: 0, nextRunAt: new Date(env.wall() + 20_000).toISOString() })
    await queue.enqueue({ taskType: 'note', payload: 'soon', runAt: new Date(env.wall() + 500) })
    await env.advance(499)
    expect(executed).toEqual([])
    await env.advance(60_000)
    expect(executed).toEqual([
      ['soon', 500],
      ['late', 20_000],
    ])
  })

  test('redrive wakes them', async () => {
    const { queue, env, settle } = await setup(world, { maxAttempts: 1 })
    let isBroken = true
    queue.register({
      taskType: 'repaired',
      execute() {
        if (isBroken) throw new Error('broken')
      },
    })
    const { id } = await queue.enqueue({ taskType: 'repaired', payload: null })
    queue.start()
    await env.advance(10_000)
    isBroken = false
    expect(await queue.redrive(id)).toMatchObject({ id, state: 'Queued', attempts: 0, lastError: null })
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded' })
  })

  test('a type that nobody has registered waits, and is executed once somebody does', async () => {
    const { queue, env, settle } = await setup(world)
    queue.start()
    const { id } = await queue.enqueue({ taskType: 'unknown', payload: 7 })
    queue.register({ taskType: 'known', execute: () => {} })
    await env.advance(60_000)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Queued', attempts: 0 })
    const executed: unknown[] = []
    queue.register({ taskType: 'unknown', execute: (payload) => executed.push(payload) })
    await settle()
    expect(executed).toEqual([7])
  })

  test.each([1, 3])('concurrency %i is how many run at once (003 §未決定項目 1)', async (concurrency) => {
    const { queue, env, settle } = await setup(world, { concurrency })
    let running = 0
    let most = 0
    queue.register({
      taskType: 'pause',
      async execute() {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => void env.timer(100, resolve))
        running--
      },
    })
    for (let n = 0; n < 7; n++) await queue.enqueue({ taskType: 'pause', payload: n })
    queue.start()
    await settle()
    expect(await queue.countsByState()).toMatchObject({ Running: concurrency, Queued: 7 - concurrency })
    await env.advance(2000)
    expect(most).toBe(concurrency)
    expect(await queue.countsByState()).toMatchObject({ Succeeded: 7, Running: 0 })
  })

  test('a task is seen as Running while its handler is at work, and nothing holds the others up', async () => {
    const { queue, settle } = await setup(world, { concurrency: 2 })
    const { opened, open } = gate()
    queue.register({ taskType: 'long', execute: () => opened })
    queue.register({ taskType: 'short', execute: () => {} })
    const long = await queue.enqueue({ taskType: 'long', payload: null })
    const short = await queue.enqueue({ taskType: 'short', payload: null })
    queue.start()
    await settle()
    expect(await queue.getStatus(long.id)).toMatchObject({ state: 'Running', attempts: 0 })
    expect(await queue.getStatus(short.id)).toMatchObject({ state: 'Succeeded' })
    open()
    await settle()
    expect(await queue.getStatus(long.id)).toMatchObject({ state: 'Succeeded' })
  })

  test('the same idempotency key is the same task', async () => {
    const { queue } = await setup(world)
    const request = { taskType: 'charge', payload: 1, idempotencyKey: 'order 7' }
    const first = await queue.enqueue(request)
    expect(await queue.enqueue({ ...request, payload: 2 })).toEqual(first)
    expect(await queue.countsByState()).toMatchObject({ Queued: 1 })
  })

  test('what a handler returns is not kept, so it may be anything', async () => {
    const { queue, settle } = await setup(world)
    queue.register({ taskType: 'function', execute: async () => () => {} })
    const { id } = await queue.enqueue({ taskType: 'function', payload: null })
    queue.start()
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded' })
  })

  test('mistakes are named', async () => {
    const { queue } = await setup(world)
    queue.register({ taskType: 'once', execute: () => {} })
    expect(() => queue.register({ taskType: 'once', execute: () => {} })).toThrow(expect.objectContaining({ code: 'duplicate_job' }))
    expect(() => queue.register({ taskType: 'no function' } as never)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    await expect(queue.enqueue({ taskType: '', payload: 1 })).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(queue.enqueue({ taskType: 'once', payload: () => {} })).rejects.toMatchObject({ code: 'value_not_serializable' })
    await expect(queue.enqueue({ taskType: 'once', payload: 1, delay: -1 })).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(queue.redrive('nobody')).rejects.toMatchObject({ code: 'run_not_found' })
    expect(await queue.getStatus('nobody')).toBeNull()
  })
})

test('two queues on one database share the work, and see the same counts', async () => {
  const { queue, another, env, settle } = await setup('sqlite', { concurrency: 2 })
  const second = another({ concurrency: 2 })
  const executed: unknown[] = []
  for (const each of [queue, second]) each.register({ taskType: 'note', execute: (payload) => executed.push(payload) })
  for (let n = 0; n < 20; n++) await (n % 2 ? queue : second).enqueue({ taskType: 'note', payload: n })
  for (const each of [queue, second]) each.start()
  await settle()
  await env.advance(1000)
  expect(executed.toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => n).toSorted())
  expect(await second.countsByState()).toMatchObject({ Succeeded: 20 })
  expect(await queue.countsByState()).toMatchObject({ Succeeded: 20 })
})

test('the tables of a queue are its own: runs of other jobs in the same database are no tasks', async () => {
  const file = temporaryFile()
  const durably = createDurably({ dialect: sqlite(file) })
  const queue = createTaskQueue({ dialect: sqlite(file) })
  onTestFinished(async () => {
    await queue[Symbol.asyncDispose]()
    await durably[Symbol.asyncDispose]()
  })
  await durably.migrate()
  await queue.migrate()
  await durably.defineJob({ name: 'job', input: z.unknown() }, () => {}).trigger(1)
  await queue.enqueue({ taskType: 'job', payload: 1 })
  expect(await queue.countsByState()).toMatchObject({ Queued: 1 })
  expect(await durably.getRuns()).toHaveLength(1)
})
