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
    await expect(durably.retryRuns({ jobname: 'x' } as never)).rejects.toThrow(/getRuns has no option "jobname"; did you mean "jobName"/)
    await expect(durably.cancelRuns({}, { limit: 0 })).rejects.toThrow(/limit must be a positive whole number, got 0/)
  })
})
