import { describe, expect, test } from 'vitest'
import { retry } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import type { TaskQueue, TaskRecord, TaskState } from '../../src/tasks/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { faulty } from '../engine/faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const COUNTS = { Queued: 0, Running: 0, Succeeded: 0, RetryScheduled: 0, Dead: 0, Cancelled: 0 }

function registerSome(queue: TaskQueue): void {
  queue.register({ taskType: 'works', execute: () => {} })
  queue.register({ taskType: 'fails', execute: () => Promise.reject(new Error('no')) })
}

describe.each(WORLDS)('observing (%s)', (world) => {
  test('getStatus has the record (003 §TaskRecord)', async () => {
    const { env, queue } = await setup(world)
    const task = await queue.enqueue({ taskType: 'send_email', payload: { to: 'ada' } })
    const now = new Date(env.wall()).toISOString()
    expect(await queue.getStatus(task.id)).toEqual({
      id: task.id,
      envelope: { taskType: 'send_email', payload: { to: 'ada' }, contentType: 'application/json' },
      state: 'Queued',
      labels: {},
      attempts: 0,
      maxAttempts: 5,
      lastError: null,
      nextRunAt: null,
      createdAt: now,
      updatedAt: now,
    })
  })

  test('tasks are found by the labels that they were enqueued with', async () => {
    const { queue } = await setup(world)
    const task = await queue.enqueue({ taskType: 'works', payload: 1, labels: { tenant: 'acme' } })
    await queue.enqueue({ taskType: 'works', payload: 2, labels: { tenant: 'other' } })
    expect(await queue.list({ labels: { tenant: 'acme' }, taskType: 'works' })).toEqual({ tasks: [task], cursor: null })
    expect(task.labels).toEqual({ tenant: 'acme' })
  })

  test('every verb that takes a task takes its id, or the record that enqueue returned (003 §観測)', async () => {
    const { env, queue } = await setup(world, { maxAttempts: 1 })
    registerSome(queue)
    const fails = await queue.enqueue({ taskType: 'fails', payload: null })
    const waits = await queue.enqueue({ taskType: 'unknown', payload: null })
    queue.start()
    await env.advance(0)
    expect(await queue.getStatus(fails)).toMatchObject({ id: fails.id, state: 'Dead' })
    expect(await queue.redrive(fails)).toMatchObject({ id: fails.id, state: 'Queued' })
    expect(await queue.cancel(waits)).toBe('cancelled')
    await queue.purge({ olderThan: 0, state: 'Cancelled' })
    expect(await queue.getStatus(waits)).toBeNull()
  })

  test('what names no task is refused, and the error says what does', async () => {
    const { queue } = await setup(world)
    const task = queue.enqueue({ taskType: 'works', payload: null })
    const notTasks: [unknown, RegExp][] = [
      [undefined, /got undefined$/],
      [null, /got null$/],
      [7, /by its id, or by the record that enqueue\(\) returned, got 7$/],
      [{}, /got an object without an id$/],
      [task, /got a promise; await enqueue\(\) first$/],
    ]
    for (const [notTask, message] of notTasks)
      for (const verb of ['getStatus', 'cancel', 'redrive'] as const)
        await expect(queue[verb](notTask as string)).rejects.toMatchObject({
          code: 'invalid_argument',
          message: expect.stringMatching(message),
        })
    await task
  })

  test('countsByState has every state, those with nothing in them too', async () => {
    const { env, queue, settle } = await setup(world, { retry: retry.fixed({ maxAttempts: 2, delay: 5000 }) })
    registerSome(queue)
    expect(await queue.countsByState()).toEqual(COUNTS)
    for (const taskType of ['works', 'works', 'fails', 'unknown']) await queue.enqueue({ taskType, payload: null })
    await queue.enqueue({ taskType: 'works', payload: null, delay: '1h' })
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Queued: 5 })
    queue.start()
    await settle()
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Queued: 2, Succeeded: 2, RetryScheduled: 1 })
    await env.advance(5000)
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Queued: 2, Succeeded: 2, Dead: 1 })
  })

  test('list goes through a state page by page, newest first, each task once', async () => {
    const { queue, settle } = await setup(world)
    registerSome(queue)
    const ids: string[] = []
    for (let n = 0; n < 25; n++) {
      ids.push((await queue.enqueue({ taskType: n % 5 === 0 ? 'fails' : 'works', payload: n })).id)
      if (n % 3 === 0) await queue.enqueue({ taskType: 'unknown', payload: n })
    }
    queue.start()
    await settle()
    await settle()
    const walk = async (state: TaskState, limit: number) => {
      const seen: TaskRecord[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await queue.list({ state, limit, cursor: cursor ?? null })
        expect(page.tasks.length).toBeLessThanOrEqual(limit)
        seen.push(...page.tasks)
        cursor = page.cursor
      }
      return seen
    }
    expect((await walk('Succeeded', 7)).map(({ id }) => id)).toEqual(ids.filter((_, n) => n % 5 !== 0).reverse())
    // These two are pending in the database, and lie among each other.
    const payloads = async (state: TaskState) => (await walk(state, 3)).map(({ envelope }) => envelope.payload)
    expect(await payloads('RetryScheduled')).toEqual([20, 15, 10, 5, 0])
    expect(await payloads('Queued')).toEqual([24, 21, 18, 15, 12, 9, 6, 3, 0])
    expect((await queue.list({ taskType: 'unknown', limit: 3 })).tasks).toHaveLength(3)
    expect((await queue.list()).tasks).toHaveLength(34)
    await expect(queue.list({ state: 'Nope' as never })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('on(stateChange) emits each change until it is unsubscribed; a listener that throws harms nobody', async () => {
    const { env, queue, changes, errors } = await setup(world, { retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) })
    registerSome(queue)
    const heard: string[] = []
    const unsubscribe = queue.on('stateChange', ({ state }) => heard.push(state))
    queue.on('stateChange', ({ state }) => {
      if (state === 'RetryScheduled') throw new Error('a bug in a listener')
    })
    queue.on('stateChange', async ({ state }) => {
      if (state === 'Dead') throw new Error('a bug in another one')
    })
    const { id } = await queue.enqueue({ taskType: 'fails', payload: null })
    queue.start()
    await env.advance(999)
    unsubscribe()
    await env.advance(10_000)
    await queue.redrive(id)
    expect(heard).toEqual(['Queued', 'Running', 'RetryScheduled'])
    expect(changes).toMatchObject([
      { taskId: id, taskType: 'fails', state: 'Queued', by: 'enqueue' },
      { state: 'Running', attempt: 1 },
      { state: 'RetryScheduled', attempt: 1, error: 'no', nextRunAt: expect.any(String) },
      { state: 'Running', attempt: 2 },
      { state: 'Dead', attempts: 2, error: 'no' },
      { state: 'Queued', by: 'redrive' },
    ])
    expect(errors).toMatchObject([{ message: 'a bug in a listener' }, { message: 'a bug in another one' }])
  })

  test('the log lines of the seed (003 §最低限ログ)', async () => {
    const { env, queue, lines } = await setup(world, { retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) })
    registerSome(queue)
    const facts = (id: string, taskType: string) => ({ taskId: id, taskType, at: expect.any(String) })
    const works = await queue.enqueue({ taskType: 'works', payload: null })
    queue.start()
    await env.advance(0)
    const one = facts(works.id, 'works')
    expect(lines.splice(0)).toEqual([
      { event: 'Enqueued', ...one },
      { event: 'Started', ...one, attempt: 1 },
      { event: 'Succeeded', ...one, attempt: 1 },
    ])
    const began = env.wall()
    const fails = await queue.enqueue({ taskType: 'fails', payload: null })
    await env.advance(1000)
    const two = facts(fails.id, 'fails')
    expect(lines).toEqual([
      { event: 'Enqueued', ...two },
      { event: 'Started', ...two, attempt: 1 },
      { event: 'Failed', ...two, attempt: 1, error: 'no' },
      { event: 'RetryScheduled', ...two, nextRunAt: new Date(began + 1000).toISOString(), backoffMs: 1000 },
      { event: 'Started', ...two, attempt: 2 },
      { event: 'Failed', ...two, attempt: 2, error: 'no' },
      { event: 'Dead', ...two, attempts: 2, lastError: 'no' },
    ])
  })

  test('a logger that throws costs no task', async () => {
    const { queue, settle, errors } = await setup(world, {
      logger() {
        throw new Error('the disk is full')
      },
    })
    registerSome(queue)
    const { id } = await queue.enqueue({ taskType: 'works', payload: null })
    queue.start()
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded', attempts: 0 })
    expect(errors).toHaveLength(3)
  })

  test('redriveAll sends the Dead back, of one type or all, and no other', async () => {
    const { env, queue, settle, soon } = await setup(world, { maxAttempts: 1, concurrency: 5 })
    let isBroken = true
    const execute = () => {
      if (isBroken) throw new Error('broken')
    }
    for (const taskType of ['a', 'b']) queue.register({ taskType, execute })
    for (let n = 0; n < 110; n++) await queue.enqueue({ taskType: 'a', payload: n })
    await queue.enqueue({ taskType: 'b', payload: null })
    queue.start()
    await env.advance(100)
    await settle()
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Dead: 111 })
    await queue.stop()
    isBroken = false
    expect(await queue.redriveAll({ taskType: 'b' })).toBe(1)
    // Two at once meet the same tasks; each is redriven by one of them.
    const [one, two] = await soon(Promise.all([queue.redriveAll(), queue.redriveAll()]))
    expect(one + two).toBe(110)
    expect(await queue.redriveAll()).toBe(0)
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Queued: 111 })
    queue.start()
    await env.advance(100)
    await settle()
    expect(await queue.countsByState()).toEqual({ ...COUNTS, Succeeded: 111 })
  })
})

test('a small page of a state takes few reads, however many tasks of another state lie between', async () => {
  const env = virtualEnv()
  const { wrap, faults } = faulty()
  const { queue } = await setup('memory', { env, store: wrap(memoryStore({ env })) })
  registerSome(queue)
  const ids: string[] = []
  for (let n = 0; n < 2; n++) ids.unshift((await queue.enqueue({ taskType: 'fails', payload: n })).id)
  queue.start()
  for (let turn = 0; turn < 200; turn++) await env.idle()
  for (let n = 0; n < 500; n++) await queue.enqueue({ taskType: 'unknown', payload: n })
  const before = faults.count('runs.list')
  const first = await queue.list({ state: 'RetryScheduled', limit: 1 })
  const second = await queue.list({ state: 'RetryScheduled', limit: 1, cursor: first.cursor })
  expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids)
  expect(await queue.list({ state: 'RetryScheduled', limit: 1, cursor: second.cursor })).toEqual({ tasks: [], cursor: null })
  expect(faults.count('runs.list') - before).toBeLessThan(10)
  for (const limit of [0, -1, 1.5, Number.NaN])
    await expect(queue.list({ state: 'RetryScheduled', limit })).rejects.toMatchObject({ code: 'invalid_argument' })
})
