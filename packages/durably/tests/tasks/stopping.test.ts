import { describe, expect, test } from 'vitest'
import type { TaskContext } from '../../src/tasks/index.ts'
import { gate } from '../engine/gate.ts'
import { setup, WORLDS } from './world.ts'

/** A handler that works until its signal aborts. */
const untilAborted = (_payload: unknown, { signal }: TaskContext) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

describe.each(WORLDS)('stopping (%s)', (world) => {
  test('a cancelled handler leaves nothing Running behind (003 §キャンセル)', async () => {
    const { queue, settle, changes } = await setup(world)
    queue.register({ taskType: 'long', execute: untilAborted })
    const { id } = await queue.enqueue({ taskType: 'long', payload: null })
    queue.start()
    await settle()
    expect(await queue.cancel(id)).toBe('requested')
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Cancelled', attempts: 0 })
    expect(await queue.countsByState()).toMatchObject({ Running: 0, Cancelled: 1 })
    expect(changes.map(({ state }) => state)).toEqual(['Queued', 'Running', 'Cancelled'])
  })

  test('a signal that is first asked for after the cancel is aborted, and says why', async () => {
    const { queue, settle } = await setup(world)
    const asked = gate()
    const reasons: unknown[] = []
    queue.register({
      taskType: 'late',
      async execute(_payload, context) {
        await asked.opened
        const { signal } = context
        reasons.push(signal.aborted, signal.reason, context.signal === signal)
      },
    })
    const { id } = await queue.enqueue({ taskType: 'late', payload: null })
    queue.start()
    await settle()
    await queue.cancel(id)
    asked.open()
    await settle()
    expect(reasons).toMatchObject([true, { code: 'cancel_requested' }, true])
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Cancelled' })
  })

  test('a waiting task, also one that waits for a retry, is cancelled at once', async () => {
    const { queue, env, settle } = await setup(world)
    queue.register({ taskType: 'fails', execute: () => Promise.reject(new Error('no')) })
    const waiting = await queue.enqueue({ taskType: 'unknown', payload: null })
    const retried = await queue.enqueue({ taskType: 'fails', payload: null })
    queue.start()
    await settle()
    expect(await queue.cancel(waiting.id)).toBe('cancelled')
    expect(await queue.cancel(retried.id)).toBe('cancelled')
    expect(await queue.getStatus(retried.id)).toMatchObject({ state: 'Cancelled', attempts: 1, nextRunAt: null })
    await env.advance(60_000)
    expect(await queue.getStatus(retried.id)).toMatchObject({ state: 'Cancelled', attempts: 1 })
    expect(await queue.countsByState()).toMatchObject({ Cancelled: 2, Queued: 0, RetryScheduled: 0 })
    expect(await queue.cancel(waiting.id)).toBe('refused')
    await expect(queue.redrive(waiting.id)).rejects.toMatchObject({ code: 'run_not_retryable' })
  })

  test('stop() waits for the running tasks, and starts no other', async () => {
    const { queue, settle } = await setup(world)
    const { opened, open } = gate()
    queue.register({ taskType: 'long', execute: () => opened })
    for (let n = 0; n < 2; n++) await queue.enqueue({ taskType: 'long', payload: n })
    queue.start()
    await settle()
    let isStopped = false
    const stopped = queue.stop().then(() => {
      isStopped = true
    })
    await settle()
    expect(isStopped).toBe(false)
    open()
    await stopped
    expect(await queue.countsByState()).toMatchObject({ Succeeded: 1, Queued: 1, Running: 0 })
  })

  test('stop({ timeout }) asks them to stop and queues them again; it costs no attempt, and a start goes on', async () => {
    const { queue, env, settle, changes } = await setup(world, { concurrency: 2 })
    let isShuttingDown = true
    queue.register({ taskType: 'long', execute: (payload, context) => (isShuttingDown ? untilAborted(payload, context) : undefined) })
    const { id } = await queue.enqueue({ taskType: 'long', payload: null })
    queue.start()
    await settle()
    const stopped = queue.stop({ timeout: 1000 })
    await env.advance(1000)
    await stopped
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Queued', attempts: 0, lastError: null })
    expect(changes.at(-1)).toMatchObject({ taskId: id, state: 'Queued', by: 'release' })
    isShuttingDown = false
    queue.start()
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded', attempts: 0 })
  })

  test('a handler that ignores its signal keeps its task until the lease is over; then it is Queued again', async () => {
    const { queue, env, settle, changes } = await setup(world, { concurrency: 2, staleThreshold: 30_000 })
    const { opened, open } = gate()
    let executions = 0
    queue.register({ taskType: 'deaf', execute: () => (++executions === 1 ? opened : undefined) })
    const { id } = await queue.enqueue({ taskType: 'deaf', payload: null })
    queue.start()
    await settle()
    const stopped = queue.stop({ timeout: 0 })
    await env.advance(1000)
    await stopped
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Running' })
    queue.start()
    await env.advance(30_000)
    expect(changes.map(({ state }) => state)).toEqual(['Queued', 'Running', 'Queued', 'Running', 'Succeeded'])
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded', attempts: 0 })
    open()
  })

  test('await using stops it', async () => {
    const { queue, settle, soon } = await setup(world)
    queue.register({ taskType: 'short', execute: () => {} })
    const { id } = await queue.enqueue({ taskType: 'short', payload: null })
    queue.start()
    await settle()
    expect(await queue.getStatus(id)).toMatchObject({ state: 'Succeeded' })
    await soon(queue[Symbol.asyncDispose]())
  })
})
