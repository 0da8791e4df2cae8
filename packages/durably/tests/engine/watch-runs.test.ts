// durably.watchRuns: the newest runs that match, now and whenever they changed, wherever they are executed.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { Run, RunStatus } from '../../src/model/run.ts'
import type { WatchFilter, WatchOptions } from '../../src/runs/watch-runs.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()

/** Every page that has come so far; the watch goes on. */
function watch(durably: Durably, filter?: WatchFilter, options?: WatchOptions) {
  const pages: (readonly Run[])[] = []
  const ended = (async () => {
    for await (const page of durably.watchRuns(filter, options)) pages.push(page)
  })().catch((error: unknown) => error)
  return { pages, ended }
}

const brief = (page: readonly Run[] | undefined) => page?.map(({ payload, status }) => `${payload} ${status}`)

async function world(name: WorldName) {
  const { wrap, faults } = faulty()
  const world = await setup(name, { wrap })
  const job = world.durably.defineJob({ name: 'job', input: anything }, async () => 'output')
  return { ...world, faults, job, reads: () => faults.count('runs.list') }
}

describe.each(WORLDS)('watchRuns on %s', (name) => {
  test('gives the newest first, at once, and again when one of them changed', async () => {
    const { durably, job, env, soon } = await world(name)
    await job.trigger('a')
    await job.trigger('b')
    const { pages } = watch(durably)
    await env.idle()
    expect(pages.map(brief)).toEqual([['b pending', 'a pending']])
    await env.advance(100)
    await job.trigger('c')
    await env.idle()
    expect(brief(pages[1])).toEqual(['c pending', 'b pending', 'a pending'])
    await soon(durably.processOne())
    await env.advance(100)
    expect(brief(pages.at(-1))).toEqual(['c pending', 'b pending', 'a completed'])
    expect(pages.at(-1)?.[2]).toMatchObject({ output: 'output' })
  })

  test('an empty page is a page, and what did not change is not sent again', async () => {
    const { durably, env, reads } = await world(name)
    const { pages } = watch(durably)
    await env.advance(10_000)
    expect(pages).toEqual([[]])
    expect(reads()).toBe(11)
  })

  test('keeps to its filter: a run that no longer matches leaves the page', async () => {
    const { durably, job, env, soon } = await world(name)
    durably.defineJob({ name: 'other', input: anything }, async () => {})
    await job.batchTrigger(['a', 'b', 'c'].map((payload) => ({ payload })))
    const pending = watch(durably, { status: 'pending', jobName: 'job' })
    const two = watch(durably, { limit: 2 })
    const none = watch(durably, { jobName: 'other' })
    await env.idle()
    await soon(durably.processUntilIdle())
    await env.advance(1000)
    expect(brief(pending.pages[0])).toEqual(['c pending', 'b pending', 'a pending'])
    expect(pending.pages.at(-1)).toEqual([])
    expect(brief(two.pages.at(-1))).toEqual(['c completed', 'b completed'])
    expect(none.pages).toEqual([[]])
  })

  test('shows a cancel that was only asked for, of progress, and of a deleted run', async () => {
    const { durably, env } = await world(name)
    const { opened, open } = gate()
    const long = durably.defineJob({ name: 'long', input: anything }, async (ctx) => {
      ctx.progress(1, 2)
      await ctx.run('step', () => 1)
      await opened
    })
    const { id } = await long.trigger('x')
    const { pages } = watch(durably)
    durably.start()
    await env.advance(200)
    expect(pages.at(-1)).toMatchObject([{ status: 'running', progress: { current: 1 } }])
    await durably.cancel(id)
    await env.advance(100)
    expect(pages.at(-1)).toMatchObject([{ phase: 'cancelling' }])
    open()
    await env.advance(200)
    expect(pages.at(-1)).toMatchObject([{ status: 'cancelled' }])
    await durably.deleteRun(id)
    await env.advance(100)
    expect(pages.at(-1)).toEqual([])
  })

  test('notices what time alone changes: a sleep that is over', async () => {
    const { durably, job, env } = await world(name)
    await job.trigger('later', { delay: 2500 })
    const { pages } = watch(durably)
    await env.advance(2000)
    expect(pages.map(([run]) => run?.phase)).toEqual(['sleeping'])
    await env.advance(1000)
    expect(pages.map(([run]) => run?.phase)).toEqual(['sleeping', 'pending'])
  })

  test('sees what another instance on the same database does, within a polling interval', async () => {
    const { durably, job, another, env, soon } = await world(name)
    const elsewhere = another({ pollingInterval: 300 })
    const { pages } = watch(elsewhere)
    await env.idle()
    await job.trigger('a')
    await env.advance(299)
    expect(pages).toEqual([[]])
    await env.advance(1)
    expect(brief(pages.at(-1))).toEqual(['a pending'])
    await soon(durably.processUntilIdle())
    await env.advance(300)
    expect(brief(pages.at(-1))).toEqual(['a completed'])
    await elsewhere.deleteRun(pages.at(-1)?.[0]?.id ?? '')
    await env.advance(100)
    expect(pages.at(-1)).toEqual([])
  })

  test('those who watch the same share one reader, and many changes at once are one read per 100 ms', async () => {
    const { durably, job, env, reads } = await world(name)
    const watches = Array.from({ length: 20 }, () => watch(durably, { jobName: 'job' }))
    await env.idle()
    expect(reads()).toBe(1)
    for (let i = 0; i < 30; i++) {
      await job.trigger(i)
      await env.advance(10)
    }
    await env.advance(90)
    expect(reads()).toBeLessThanOrEqual(5)
    for (const { pages } of watches) expect(pages.at(-1)?.length).toBe(30)
  })

  test('a run that did not change stays the same object', async () => {
    const { durably, job, env } = await world(name)
    await job.trigger({ a: 1 })
    const { pages } = watch(durably)
    await env.advance(100)
    await job.trigger({ b: 1 })
    await env.idle()
    expect(pages[1]?.[1]).toBe(pages[0]?.[0])
  })

  test('who left is no longer read for: by leaving the loop, by a signal, before the first page', async () => {
    const { durably, job, env, soon, reads } = await world(name)
    const controller = new AbortController()
    const aborted = watch(durably, {}, { signal: controller.signal })
    const early = watch(durably, { limit: 7 }, { signal: AbortSignal.abort('too late') })
    for await (const _ of durably.watchRuns({ limit: 3 })) break
    await env.idle()
    controller.abort(new Error('enough'))
    expect(await soon(aborted.ended)).toEqual(new Error('enough'))
    expect(await soon(early.ended)).toBe('too late')
    await env.advance(2000)
    const before = reads()
    await job.trigger('unseen')
    await env.advance(5000)
    expect(reads()).toBe(before)
    expect(env.nextInMs()).toBeNull()
  })

  test('who takes its time costs nothing meanwhile, and then gets the newest page', async () => {
    const { durably, job, env, soon, reads } = await world(name)
    const reader = durably.watchRuns().getReader()
    expect((await soon(reader.read())).value).toEqual([])
    await env.advance(5000)
    const before = reads()
    for (const payload of ['a', 'b', 'c']) await job.trigger(payload)
    await env.advance(5000)
    expect(reads()).toBe(before)
    expect(brief((await soon(reader.read())).value)).toEqual(['c pending', 'b pending', 'a pending'])
    await reader.cancel()
  })

  test('outlasts a store that is away', async () => {
    const { durably, job, env, faults } = await world(name)
    faults.fail('runs.list', { when: 'before', times: 3 })
    const { pages } = watch(durably)
    await job.trigger('a')
    await env.idle()
    expect(pages).toEqual([])
    await env.advance(3000)
    expect(brief(pages.at(-1))).toEqual(['a pending'])
    faults.fail('runs.list', { when: 'after', times: 3 })
    await job.trigger('b')
    await env.advance(3000)
    expect(brief(pages.at(-1))).toEqual(['b pending', 'a pending'])
  })

  test('ends with an error that does not pass; the next watch begins anew', async () => {
    const { durably, env, faults, soon } = await world(name)
    const { ended } = watch(durably)
    await env.idle()
    faults.fail('runs.list', { when: 'before', error: new DurablyError('store_corrupt', 'broken') })
    await env.advance(1000)
    expect(await soon(ended)).toMatchObject({ code: 'store_corrupt' })
    const again = watch(durably)
    await env.idle()
    expect(again.pages).toEqual([[]])
  })
})

test('refuses what it cannot watch, at once', () => {
  const durably = createDurably({ store: memoryStore() })
  const refused = (filter: WatchFilter, message: RegExp) =>
    expect(() => durably.watchRuns(filter)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(message) }),
    )
  refused({ limit: 201 }, /limit must be at most 200 .* got 201/)
  for (const limit of [0, -1, 1.5, Number.NaN]) refused({ limit }, /limit must be a positive whole number/)
  refused({ status: 'done' as RunStatus }, /status must be one of pending, .* got "done"/)
})

test('whatever happens, by whom and when, every watcher ends with the page that a read gives', { timeout: 60_000 }, async () => {
  const moves = fc.array(
    fc.record({
      what: fc.constantFrom('trigger', 'work', 'cancel', 'delete', 'retry'),
      which: fc.nat(9),
      pause: fc.constantFrom(0, 1, 40, 120, 600),
    }),
    { minLength: 1, maxLength: 30 },
  )
  const filters: WatchFilter[] = [{}, { limit: 3 }, { status: 'pending' }, { status: 'failed' }, { jobName: 'fails', limit: 5 }]
  await fc.assert(
    fc.asyncProperty(moves, async (moves) => {
      const env = virtualEnv()
      const store = memoryStore({ env })
      const [here, elsewhere] = [createDurably({ env, store }), createDurably({ env, store, pollingInterval: 250 })]
      const jobs = [
        here.defineJob({ name: 'works', input: anything }, async () => {}),
        here.defineJob({ name: 'fails', input: anything }, () => Promise.reject(new Error('bad'))),
      ]
      const controller = new AbortController()
      const watchers = [here, elsewhere].flatMap((instance) =>
        filters.map((filter) => ({ filter, ...watch(instance, filter, { signal: controller.signal }) })),
      )
      for (const { what, which, pause } of moves) {
        const id = (await here.getRuns())[which]?.id ?? ''
        const acts = {
          trigger: () => jobs[which % 2]?.trigger(which),
          work: () => here.processOne(),
          cancel: () => here.cancel(id),
          delete: () => elsewhere.deleteRun(id),
          retry: () => elsewhere.retry(id),
        }
        const done = acts[what as keyof typeof acts]()?.catch(() => {})
        await env.idle()
        await done
        await env.advance(pause)
      }
      await env.advance(1100)
      for (const { filter, pages } of watchers) {
        expect(pages.at(-1)).toEqual(await here.getRuns({ limit: 50, ...filter }))
        for (const [i, page] of pages.entries()) expect(page).not.toEqual(pages[i - 1])
      }
      controller.abort()
      await Promise.all(watchers.map(({ ended }) => ended))
      await env.advance(2000)
      expect(env.nextInMs()).toBeNull()
    }),
    { numRuns: 40 },
  )
})
