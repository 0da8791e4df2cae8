import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { NonRetryableError, retry, retryAfter } from '../../src/index.ts'
import type { TaskQueueOptions } from '../../src/tasks/index.ts'
import { setup, WORLDS } from './world.ts'

const always = (error: unknown) => () => {
  throw error
}

describe.each(WORLDS)('retries (%s)', (world) => {
  test('maxAttempts 5 is five executions, then it is Dead and keeps its last error (003 §リトライ仕様)', async () => {
    const { env, queue } = await setup(world)
    const attempts: number[] = []
    queue.register({
      taskType: 'fails',
      execute(_payload, { attempt }) {
        attempts.push(attempt)
        throw new Error(`no ${attempt}`)
      },
    })
    const { id } = await queue.enqueue({ taskType: 'fails', payload: null })
    queue.start()
    await env.advance(60_000)
    expect(attempts).toEqual([1, 2, 3, 4, 5])
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Dead', attempts: 5, maxAttempts: 5, lastError: 'no 5', nextRunAt: null })
    await env.advance(3_600_000)
    expect(attempts).toHaveLength(5)
  })

  test('a RetryScheduled task is never ready before its time, and starts when it comes (003 §満たすべき不変条件)', async () => {
    const { env, queue, soon } = await setup(world, { retry: retry.fixed({ maxAttempts: 3, delay: 5000 }) })
    const startedAt: number[] = []
    queue.register({
      taskType: 'fails',
      execute() {
        startedAt.push(env.wall())
        throw new Error('no')
      },
    })
    const began = env.wall()
    const { id } = await queue.enqueue({ taskType: 'fails', payload: null })
    queue.start()
    await env.advance(4999)
    expect(await soon(queue.getStatus(id))).toMatchObject({
      state: 'RetryScheduled',
      attempts: 1,
      lastError: 'no',
      nextRunAt: new Date(began + 5000).toISOString(),
    })
    // Whatever wakes the workers, it stays where it is.
    await queue.enqueue({ taskType: 'another', payload: null })
    await env.idle()
    expect(startedAt).toEqual([began])
    await env.advance(1)
    expect(startedAt).toEqual([began, began + 5000])
  })

  test('the default delays are exponential from 1 s with full jitter, and differ', async () => {
    const { env, queue, lines } = await setup(world)
    queue.register({ taskType: 'fails', execute: always(new Error('no')) })
    for (let n = 0; n < 20; n++) await queue.enqueue({ taskType: 'fails', payload: n })
    queue.start()
    await env.advance(60_000)
    const delays = lines.flatMap((line) => (line.event === 'RetryScheduled' ? line.backoffMs : []))
    expect(delays).toHaveLength(80)
    expect(new Set(delays).size).toBeGreaterThan(60)
    expect(Math.max(...delays)).toBeLessThanOrEqual(8000)
    expect(Math.max(...delays)).toBeGreaterThan(4000)
    expect(delays.filter((ms) => ms <= 1000).length).toBeGreaterThanOrEqual(20)
  })

  test('NonRetryableError goes straight to Dead', async () => {
    const { env, queue } = await setup(world)
    queue.register({ taskType: 'hopeless', execute: always(new NonRetryableError('never')) })
    const { id } = await queue.enqueue({ taskType: 'hopeless', payload: null })
    queue.start()
    await env.advance(0)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Dead', attempts: 1, lastError: 'never' })
  })

  test('retryAfter sets the delay', async () => {
    const { env, queue } = await setup(world)
    queue.register({ taskType: 'limited', execute: () => Promise.reject(retryAfter(new Error('429'), '30s')) })
    const { id } = await queue.enqueue({ taskType: 'limited', payload: null })
    queue.start()
    await env.advance(29_999)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'RetryScheduled', attempts: 1 })
  })

  test('a payload that the handler cannot read is tried again like any other error (003 §未決定項目 8)', async () => {
    const { env, queue } = await setup(world)
    const read: unknown[] = []
    queue.register({ taskType: 'typed', input: z.object({ n: z.number() }), execute: (payload) => read.push(payload) })
    const { id } = await queue.enqueue({ taskType: 'typed', payload: { n: 'one' } })
    queue.start()
    await env.advance(0)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'RetryScheduled', attempts: 1 })
    await env.advance(60_000)
    const task = await queue.getStatus(id)
    expect(task).toMatchObject({ state: 'Dead', attempts: 5 })
    expect(task?.lastError).toMatch(/payload of task "typed": n: /)
    expect(read).toEqual([])
  })

  test('a task that fails and then succeeds counts its failures', async () => {
    const { env, queue } = await setup(world)
    queue.register({
      taskType: 'third time',
      execute(_payload, { attempt }) {
        if (attempt < 3) throw new Error('not yet')
      },
    })
    const { id } = await queue.enqueue({ taskType: 'third time', payload: null })
    queue.start()
    await env.advance(60_000)
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded', attempts: 2, lastError: null })
  })

  test('an execution that takes too long has failed, and its signal says so', async () => {
    const { env, queue } = await setup(world, { maxAttempts: 1 })
    let reason: unknown
    queue.register({
      taskType: 'slow',
      timeout: '1s',
      execute: (_payload, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(signal.reason)
          })
        }),
    })
    const { id } = await queue.enqueue({ taskType: 'slow', payload: null })
    queue.start()
    await env.advance(1000)
    expect(reason).toMatchObject({ code: 'timeout' })
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Dead', attempts: 1 })
  })

  const failing = async (options: TaskQueueOptions) => {
    const { env, queue } = await setup(world, options)
    queue.register({ taskType: 'fails', execute: always(new Error('no')) })
    const task = await queue.enqueue({ taskType: 'fails', payload: null })
    queue.start()
    await env.advance(1000)
    return queue.getStatus(task)
  }

  test('five executions whatever the policy: it says how long to wait, and may give up earlier (003 §リトライ仕様)', async () => {
    expect(await failing({ retry: () => 5 })).toMatchObject({ state: 'Dead', attempts: 5, maxAttempts: 5 })
    expect(await failing({ retry: retry.fixed({ maxAttempts: 9 }) })).toMatchObject({ state: 'Dead', attempts: 5, maxAttempts: 5 })
    expect(await failing({ retry: retry.none() })).toMatchObject({ state: 'Dead', attempts: 1, maxAttempts: 5 })
  })

  test('maxAttempts asks for fewer, for more, or leaves it to the policy', async () => {
    expect(await failing({ retry: () => 10, maxAttempts: 2 })).toMatchObject({ state: 'Dead', attempts: 2, maxAttempts: 2 })
    expect(await failing({ retry: () => 10, maxAttempts: 7 })).toMatchObject({ state: 'Dead', attempts: 7, maxAttempts: 7 })
    const endless = { retry: retry.fixed({ maxAttempts: 20, delay: 10 }), maxAttempts: Number.POSITIVE_INFINITY }
    expect(await failing(endless)).toMatchObject({ state: 'Dead', attempts: 20, maxAttempts: Number.POSITIVE_INFINITY })
  })
})
