import { describe, expect, test } from 'vitest'
import { z } from 'zod'
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

  test('a run tells its phase: one word for a person', async () => {
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
})
