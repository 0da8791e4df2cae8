// Steps and log lines are read in pages: by callers, and by a worker that resumes a run.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { DurablyError } from '../../src/model/errors.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import type { RowPage } from '../../src/store/row-page.ts'
import type { Store } from '../../src/store/store.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const STEPS = 2500

/** Notes how many rows were asked for, and got, whenever an owner reads its steps. */
function watching() {
  const pages: { asked: number | undefined; got: number | undefined }[] = []
  const wrap = (store: Store): Store => ({
    ...store,
    steps: {
      ...store.steps,
      async listOwned(claim, page: RowPage = {}) {
        const rows = await store.steps.listOwned(claim, page)
        pages.push({ asked: page.limit, got: rows?.length })
        return rows
      },
    },
  })
  return { pages, wrap }
}

/** A run that has recorded all of its steps, then failed, and can be retried. */
async function failedAfter(world: WorldName, steps: number, output: string, wrap: (store: Store) => Store) {
  const { durably, within, another } = await setup(world, { wrap })
  let calls = 0
  let hasFailed = false
  const job = durably.defineJob({ name: 'long', input: z.null() }, async (ctx) => {
    for (let i = 0; i < steps; i++)
      await ctx.run(`step ${i}`, () => {
        calls++
        return output
      })
    if (!hasFailed) {
      hasFailed = true
      throw new Error('once')
    }
    return steps
  })
  const { id } = await job.trigger(null)
  await within(60_000, durably.processUntilIdle())
  expect(await durably.getRun(id)).toMatchObject({ status: 'failed' })
  return { durably, within, another, id, calls: () => calls }
}

describe.each(WORLDS)('pages on %s', (world) => {
  test('a run with many steps is resumed page by page, and calls none of them again', async () => {
    const { pages, wrap } = watching()
    const { durably, within, id, calls } = await failedAfter(world, STEPS, 'x', wrap)
    await durably.retry(id)
    await within(60_000, durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: STEPS })
    expect(calls()).toBe(STEPS)
    expect(pages.map(({ asked }) => asked)).toEqual([25, 1000, 1000, 1000])
    expect(pages.reduce((sum, { got = 0 }) => sum + got, 0)).toBe(STEPS)
  })

  test('large outputs make the pages short', async () => {
    const { pages, wrap } = watching()
    const { durably, within, id } = await failedAfter(world, 40, 'x'.repeat(1024 * 1024), wrap)
    await durably.retry(id)
    await within(60_000, durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(pages.map(({ got }) => got)).toEqual([25, 3, 3, 3, 3, 3, 0])
  })

  test('a worker that lost its run between two pages does not start the job', async () => {
    let isLost = false
    const lost = (store: Store): Store => ({
      ...store,
      steps: {
        ...store.steps,
        listOwned: async (claim, page) =>
          store.steps.listOwned(isLost && page?.after !== undefined ? { ...claim, token: 'of another worker' } : claim, page),
      },
    })
    const { durably, within, id } = await failedAfter(world, 60, 'x', lost)
    isLost = true
    const errors: unknown[] = []
    durably.on('worker:error', ({ cause }) => errors.push((cause as DurablyError).code))
    let starts = 0
    durably.on('run:start', () => starts++)
    await durably.retry(id)
    await within(1000, durably.processOne())
    expect(starts).toBe(0)
    expect(errors).toEqual(['lease_lost'])
  })

  test('getSteps and getLogs return a page, the next one, and all', async () => {
    const { durably, soon } = await setup(world)
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: z.null() }, async (ctx) => {
      for (let i = 0; i < 30; i++) {
        ctx.log.info(`line ${i}`)
        await ctx.run(`step ${i}`, () => i)
      }
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    for (const read of ['getSteps', 'getLogs'] as const) {
      const all = await durably[read](id)
      expect(all.length).toBeGreaterThanOrEqual(30)
      const first = await durably[read](id, { limit: 7 })
      expect(first).toEqual(all.slice(0, 7))
      expect(await durably[read](id, { limit: 7, cursor: first.at(-1)?.id ?? '' })).toEqual(all.slice(7, 14))
      expect(await durably[read](id, { cursor: first.at(-1)?.id ?? '' })).toEqual(all.slice(7))
      expect(await durably[read](id, { limit: 5, cursor: all.at(-1)?.id ?? '' })).toEqual([])
      await expect(durably[read](id, { limit: 0 })).rejects.toThrow(/limit must be a positive whole number, got 0/)
      await expect(durably[read](id, { after: 'x' } as never)).rejects.toThrow(`${read} has no option "after"; there is limit, cursor`)
    }
    await expect(durably.getSteps(id, { cursor: 'nothing' })).rejects.toThrow(/cursor must be the id of a step of run .*, got "nothing"/)
    await expect(durably.getLogs(id, { cursor: 'nothing' })).rejects.toThrow('cursor must be the id of a log line, got "nothing"')
  })
})
