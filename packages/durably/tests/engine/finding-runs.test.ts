import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RunFilter } from '../../src/index.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const number = z.number()

describe.each(WORLDS)('finding runs on %s', (world) => {
  test('getRun gives null for an unknown id (000 §Run の取得)', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    expect(await durably.getRun('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBeNull()
    expect(await job.getRun('nonsense')).toBeNull()
  })

  test('a handle sees only the runs of its own job', async () => {
    const { durably } = await setup(world)
    const one = durably.defineJob({ name: 'one', input: number }, async () => {})
    const two = durably.defineJob({ name: 'two', input: number }, async () => {})
    const run = await one.trigger(1)
    await two.trigger(2)

    expect(await two.getRun(run.id)).toBeNull()
    expect((await one.getRuns()).map(({ payload }) => payload)).toEqual([1])
    expect((await one.getRuns({ jobName: 'one' })).map(({ payload }) => payload)).toEqual([1])
    expect(await one.getRuns({ jobName: 'two' })).toEqual([])
    expect((await durably.getRuns({ jobName: 'two' })).map(({ payload }) => payload)).toEqual([2])
    expect(await durably.getRuns()).toHaveLength(2)
  })

  test('getRuns gives all rows without a limit, newest first with the id as tie-break (000 §Run の取得, peer P22)', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    await job.batchTrigger(Array.from({ length: 600 }, (_, i) => ({ payload: i })))
    await env.advance(5)
    await job.trigger(600)

    const runs = await job.getRuns()
    expect(runs.map(({ payload }) => payload)).toEqual(Array.from({ length: 601 }, (_, i) => 600 - i))
    expect(new Set(runs.map(({ createdAt }) => createdAt)).size).toBe(2)
  })

  test('pages follow each other without a gap or a repeat, also when runs are added and deleted between them', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    await job.batchTrigger(Array.from({ length: 7 }, (_, i) => ({ payload: i })))
    const first = await job.getRuns({ limit: 3 })
    await env.advance(1)
    await job.trigger(99)
    const last = first.at(-1)?.id ?? ''
    await durably.cancel(last)
    await durably.deleteRun(last)
    const second = await job.getRuns({ limit: 3, cursor: last })
    const third = await job.getRuns({ limit: 3, cursor: second.at(-1)?.id ?? '' })

    expect([...first, ...second, ...third].map(({ payload }) => payload)).toEqual([6, 5, 4, 3, 2, 1, 0])
    expect(await job.getRuns({ limit: 3, cursor: third.at(-1)?.id ?? '' })).toEqual([])
  })

  test('runs are found by status, also together with a job and a page', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async (_, n) => {
      if (n % 2 === 1) throw new Error(`odd ${n}`)
    })
    await job.batchTrigger(Array.from({ length: 6 }, (_, i) => ({ payload: i })))
    await soon(durably.processUntilIdle())

    const failed = await durably.getRuns({ status: 'failed', jobName: 'job', limit: 2 })
    expect(failed.map(({ error }) => error)).toEqual(['odd 5', 'odd 3'])
    expect((await job.getRuns({ status: 'failed', cursor: failed[1]?.id ?? '' })).map(({ error }) => error)).toEqual(['odd 1'])
    expect(await job.getRuns({ status: 'cancelled' })).toEqual([])
  })

  test('a run has its phase: one word for a person', async () => {
    const { durably, soon } = await setup(world)
    const started = gate()
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: number }, (ctx) =>
      ctx.run('wait', () => {
        started.open()
        return finish.opened
      }),
    )
    const { id } = await job.trigger(1)
    const phase = async () => (await durably.getRun(id))?.phase
    expect(await phase()).toBe('pending')
    const done = durably.processOne()
    await soon(started.opened)
    expect(await phase()).toBe('running')
    await durably.cancel(id)
    expect(await phase()).toBe('cancelling')
    finish.open()
    await soon(done)
    expect(await phase()).toBe('cancelled')
  })
})

describe.each(WORLDS)('deleteRun on %s', (world) => {
  test('removes a finished run with its steps, logs and events', async () => {
    const { durably, store, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, (ctx) => ctx.run('step', () => 1))
    const { id } = await job.trigger(1)
    await soon(durably.processUntilIdle())
    await durably.deleteRun(id)

    expect(await durably.getRun(id)).toBeNull()
    expect(await durably.getSteps(id)).toEqual([])
    expect(await durably.getLogs(id)).toEqual([])
    expect(await store.events.list(id)).toEqual([])
  })

  test('refuses a pending and a running run, and says what to do', async () => {
    const { durably, soon } = await setup(world)
    const started = gate()
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: number }, (ctx) =>
      ctx.run('wait', () => {
        started.open()
        return finish.opened
      }),
    )
    const { id } = await job.trigger(1)
    await expect(durably.deleteRun(id)).rejects.toMatchObject({ code: 'run_active', runId: id })
    const done = durably.processOne()
    await soon(started.opened)
    await expect(durably.deleteRun(id)).rejects.toMatchObject({ code: 'run_active', message: expect.stringContaining('cancel') })
    finish.open()
    await soon(done)
    await durably.deleteRun(id)
    await expect(durably.deleteRun(id)).rejects.toMatchObject({ code: 'run_not_found' })
  })

  test('a filter takes one or several statuses, phases and jobs', async () => {
    const { durably, soon } = await setup(world)
    const odd = durably.defineJob({ name: 'odd', input: number }, async () => {
      throw new Error('odd')
    })
    const even = durably.defineJob({ name: 'even', input: number }, async () => {})
    for (const i of [1, 3]) await odd.trigger(i)
    await even.trigger(2)
    await soon(durably.processUntilIdle())
    await even.trigger(4)
    await even.trigger(6, { delay: '1h' })
    const found = async (filter: RunFilter) => (await durably.getRuns({ limit: 10, ...filter })).map(({ payload }) => payload)
    expect(await found({ status: ['failed', 'completed'] })).toEqual([2, 3, 1])
    expect(await found({ phase: 'sleeping' })).toEqual([6])
    expect(await found({ phase: ['pending', 'failed'] })).toEqual([4, 3, 1])
    expect(await found({ phase: ['pending', 'failed'], status: 'failed' })).toEqual([3, 1])
    expect(await found({ phase: 'pending', status: 'failed' })).toEqual([])
    expect(await found({ clusterState: 'PENDING' })).toEqual([6, 4])
    expect(await found({ clusterState: ['SUCCEEDED', 'FAILED'] })).toEqual([2, 3, 1])
    expect(await found({ clusterState: ['PENDING', 'FAILED'], phase: ['sleeping', 'failed'], jobName: 'even' })).toEqual([6])
    expect(await found({ clusterState: 'SUCCEEDED', phase: 'failed' })).toEqual([])
    expect(await found({ jobName: ['even', 'unknown'] })).toEqual([6, 4, 2])
    expect(await found({ jobName: ['even', 'odd'], status: ['failed', 'pending'] })).toEqual([6, 4, 3, 1])
    expect((await even.getRuns({ jobName: ['odd', 'even'] })).map(({ payload }) => payload)).toEqual([6, 4, 2])
  })

  test('runs are found by their keys and their parent', async () => {
    const { durably, soon } = await setup(world)
    const child = durably.defineJob({ name: 'child', input: number }, async () => {})
    const parent = durably.defineJob({ name: 'parent', input: number }, async (ctx, n) => void (await ctx.trigger(child, n)))
    const { id } = await parent.trigger(1, { concurrencyKey: 'k', idempotencyKey: 'once' })
    await parent.trigger(2, { concurrencyKey: 'other' })
    await soon(durably.processUntilIdle())
    expect(await durably.getRuns({ parentRunId: id })).toMatchObject([{ jobName: 'child', payload: 1 }])
    expect(await durably.getRuns({ concurrencyKey: 'k' })).toMatchObject([{ id }])
    expect(await durably.getRuns({ idempotencyKey: 'once' })).toMatchObject([{ id }])
    expect(await durably.getRuns({ concurrencyKey: 'k', jobName: 'child' })).toEqual([])
  })

  test('a range of creation includes its begin and not its end', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    const runs = []
    for (let i = 0; i < 4; i++) {
      runs.push(await job.trigger(i))
      await env.advance(10)
    }
    const [, second, , fourth] = runs.map(({ createdAt }) => createdAt)
    const found = async (filter: RunFilter) => (await job.getRuns(filter)).map(({ payload }) => payload)
    expect(await found({ createdAfter: second ?? '', createdBefore: fourth ?? '' })).toEqual([2, 1])
    expect(await found({ createdAfter: new Date(fourth ?? '') })).toEqual([3])
    expect(await found({ createdBefore: Date.parse(second ?? '') })).toEqual([0])
  })

  test('a list with a range of ends goes by them, in pages both ways', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    for (const [i, delay] of [30, 10, 20, 40].entries()) await job.trigger(i, { delay })
    for (let i = 0; i < 4; i++) {
      await env.advance(10)
      await soon(durably.processUntilIdle())
    }
    const ended = { finishedAfter: 0 }
    const all = await job.getRuns(ended)
    expect(all.map(({ payload }) => payload)).toEqual([3, 0, 2, 1])
    const cursor = `${all[1]?.finishedAt}/${all[1]?.id}`
    expect((await job.getRuns({ ...ended, cursor, limit: 1 })).map(({ payload }) => payload)).toEqual([2])
    expect((await job.getRuns({ ...ended, cursor, direction: 'previous' })).map(({ payload }) => payload)).toEqual([3])
    expect((await job.getRuns({ finishedBefore: all[1]?.finishedAt ?? '' })).map(({ payload }) => payload)).toEqual([2, 1])
    await expect(job.getRuns({ ...ended, cursor: all[1]?.id ?? '' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('the page before a run is found while newer runs come in', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    await job.batchTrigger(Array.from({ length: 7 }, (_, i) => ({ payload: i })))
    const second = await job.getRuns({ limit: 3, cursor: (await job.getRuns({ limit: 3 })).at(-1)?.id ?? '' })
    expect(second.map(({ payload }) => payload)).toEqual([3, 2, 1])
    await job.trigger(99)
    const back = { limit: 3, direction: 'previous' } as const
    const first = await job.getRuns({ ...back, cursor: second[0]?.id ?? '' })
    expect(first.map(({ payload }) => payload)).toEqual([6, 5, 4])
    expect((await job.getRuns({ ...back, cursor: first[0]?.id ?? '' })).map(({ payload }) => payload)).toEqual([99])
    expect((await job.getRuns(back)).map(({ payload }) => payload)).toEqual([2, 1, 0])
    expect(await durably.getRuns({ ...back, cursor: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' })).toEqual([])
  })

  test.each([
    [{ stauts: 'failed' }, /getRuns has no option "stauts"; did you mean "status"/],
    [{ phase: 'done' }, /phase must be one of pending, .* got "done"/],
    [{ clusterState: 'SLEEPING' }, /clusterState must be one of PENDING, .* got "SLEEPING"/],
    [{ clusterState: [] }, /clusterState must not be an empty list/],
    [{ status: [] }, /status must not be an empty list/],
    [{ jobName: Array.from({ length: 21 }, (_, i) => `job ${i}`) }, /jobName must be at most 20 names, got 21/],
    [{ createdAfter: 'yesterday' }, /createdAfter must be a time such as/],
    [{ direction: 'back' }, /direction must be "next" or "previous"/],
  ])('the filter %j is refused', async (filter, message) => {
    const { durably } = await setup(world)
    await expect(durably.getRuns(filter as RunFilter)).rejects.toThrow(message)
  })
})
