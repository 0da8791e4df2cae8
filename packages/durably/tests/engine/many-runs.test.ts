import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, WORLDS } from './world.ts'

const number = z.number()

describe.each(WORLDS)('commands about many runs on %s', (world) => {
  test('cancelRuns cancels what matches and has not ended, the oldest first, and goes on where it stopped', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    const other = durably.defineJob({ name: 'other', input: number }, async () => {})
    await job.trigger(0)
    await soon(durably.processUntilIdle())
    await job.batchTrigger([1, 2, 3, 4, 5].map((payload) => ({ payload })))
    await other.trigger(9)
    const cancelled = async () => (await durably.getRuns({ status: 'cancelled' })).map(({ payload }) => payload)

    const first = await durably.cancelRuns({ jobName: 'job' }, { limit: 2 })
    expect(first.count).toBe(2)
    expect(await cancelled()).toEqual([2, 1])
    const second = await durably.cancelRuns({ jobName: 'job' }, { limit: 2, cursor: first.cursor ?? '' })
    expect(second.count).toBe(2)
    // As after a crash, without the cursor.
    expect(await durably.cancelRuns({ jobName: 'job' })).toEqual({ count: 1, cursor: null })
    expect(await cancelled()).toEqual([5, 4, 3, 2, 1])
    expect(await durably.cancelRuns({ jobName: 'job' })).toEqual({ count: 0, cursor: null })
    expect(await durably.getRuns({ status: 'pending' })).toMatchObject([{ payload: 9 }])
  })

  test('more runs than one page are changed once each', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {})
    await job.batchTrigger(Array.from({ length: 450 }, (_, payload) => ({ payload })))
    expect(await durably.cancelRuns({})).toEqual({ count: 450, cursor: null })
    expect(await durably.deleteRuns({ finishedAfter: 0 })).toEqual({ count: 450, cursor: null })
    expect(await durably.getRuns()).toEqual([])
  })

  test('retryRuns retries a run once, also one that fails again at once', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {
      throw new Error('always')
    })
    for (const i of [1, 2, 3]) await job.trigger(i)
    await soon(durably.processUntilIdle())
    expect(await durably.retryRuns({ finishedAfter: 0 }, { limit: 2 })).toMatchObject({ count: 2 })
    expect(await durably.getRuns({ status: 'pending' })).toHaveLength(2)
    expect(await soon(durably.processUntilIdle())).toBe(2)
    expect(await durably.retryRuns({})).toEqual({ count: 3, cursor: null })
  })

  test('it ends, also with a cursor, where the list ended when it began', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: number }, async () => {
      throw new Error('always')
    })
    for (const i of [1, 2, 3]) await job.trigger(i)
    await soon(durably.processUntilIdle())
    // Each of them fails again before the next call, and stands at the end of the list by end then.
    let retried = 0
    for (let cursor: string | null | undefined; cursor !== null && retried < 10; ) {
      const done = await durably.retryRuns({ finishedAfter: 0 }, { limit: 1, ...(cursor && { cursor }) })
      retried += done.count
      cursor = done.cursor
      await soon(durably.processUntilIdle())
    }
    expect(retried).toBe(3)
    // A run that is triggered after the first call is not reached by the next one.
    const first = await durably.retryRuns({}, { limit: 1 })
    await job.trigger(4)
    await soon(durably.processUntilIdle())
    const rest = await durably.retryRuns({ jobName: 'job' }, { cursor: first.cursor ?? '' })
    expect(rest).toEqual({ count: 2, cursor: null })
    expect((await durably.getRuns({ status: 'failed' })).map(({ payload }) => payload)).toEqual([4, 1])
  })

  test('deleteRuns removes parents before their children', async () => {
    const { durably, soon } = await setup(world)
    const child = durably.defineJob({ name: 'child', input: number }, async () => {})
    const parent = durably.defineJob({ name: 'parent', input: number }, async (ctx, n) => {
      await ctx.invoke(child, n)
      throw new Error('failed after its child')
    })
    await parent.trigger(1)
    await soon(durably.processUntilIdle())
    expect(await durably.deleteRuns({ jobName: 'child' })).toEqual({ count: 0, cursor: null })
    expect(await durably.deleteRuns({})).toEqual({ count: 2, cursor: null })
    expect(await durably.getRuns()).toEqual([])
  })

  test('what it cannot do is refused', async () => {
    const { durably } = await setup(world)
    await expect(durably.cancelRuns({ status: 'failed' })).rejects.toThrow(
      /status for cancelRuns must be one of pending, running, got "failed"/,
    )
    await expect(durably.deleteRuns(undefined as never)).rejects.toThrow(
      /deleteRuns needs a filter; \{\} means all runs that are completed or/,
    )
    await expect(durably.retryRuns({ jobname: 'x' } as never)).rejects.toThrow(/retryRuns has no option "jobname"; did you mean "jobName"/)
    await expect(durably.cancelRuns({ limit: 3 } as never)).rejects.toThrow(/cancelRuns has no option "limit"/)
    await expect(durably.cancelRuns({}, { limt: 3 } as never)).rejects.toThrow(/cancelRuns has no option "limt"; did you mean "limit"/)
    await expect(durably.cancelRuns({}, { cursor: 'x' })).rejects.toThrow(/cursor must be what cancelRuns returned as its cursor, got "x"/)
    await expect(durably.cancelRuns({}, { limit: 0 })).rejects.toThrow(/limit must be a positive whole number, got 0/)
  })
})
