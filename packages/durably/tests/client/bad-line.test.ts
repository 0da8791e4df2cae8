// httpClient and the real server on one virtual clock, with a bad line between: what a client sees is what the engine has.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { httpClient } from '../../src/client/http/http-client.ts'
import { emptyRunView, reduceRun } from '../../src/client/run-view.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import type { Run } from '../../src/model/run.ts'
import { gate } from '../engine/gate.ts'
import { logOf } from '../engine/run-log.ts'
import { setup as setupEngine } from '../engine/world.ts'
import { badGateway, type Fault, faultyFetch } from './faulty-fetch.ts'
import { serve, URL_OF_SERVER } from './world.ts'

const anything = z.unknown()

const fault: fc.Arbitrary<Fault | null> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constantFrom('cut' as const, 'close' as const), after: fc.nat(3000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('silence' as const), after: fc.nat(1500) }) },
  { weight: 1, arbitrary: fc.constant<Fault>({ type: 'refuse' }) },
  { weight: 1, arbitrary: fc.constant(badGateway()) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('pieces' as const), of: fc.integer({ min: 1, max: 50 }) }) },
)

const isStream = ({ type }: RunLogEvent) => type.startsWith('stream:')

test('whatever the line does, subscribers see the log once and watchers end with what is there', { timeout: 60_000 }, async () => {
  const steps = fc.array(fc.constantFrom(0, 3, 20, 90, 200), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 30 }), fc.array(steps, { minLength: 1, maxLength: 4 }), async (faults, programs) => {
      const { env, durably, store, client, line } = await setup((asked) => faults[asked - 1] ?? null)
      const pause = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
      const job = durably.defineJob({ name: 'job', input: z.array(z.number()) }, async (ctx, steps) => {
        for (const [i, ms] of steps.entries())
          await (i % 3 === 2
            ? ctx.stream(`step ${i}`, async (emit) => {
                for (const part of ['ß', '日本 ', '👩‍👩‍👧']) await emit(part).then(() => pause(ms))
              })
            : ctx.run(`step ${i}`, () => pause(ms).then(() => ctx.progress(i))))
        return steps
      })
      const controller = new AbortController()
      const pages: (readonly Run[])[] = []
      const watching = (async () => {
        for await (const page of client.watchRuns({ jobName: 'job' }, { signal: controller.signal })) pages.push(page)
      })().catch(() => {})
      const runs = await job.batchTrigger(programs.map((payload) => ({ payload })))
      const read = runs.flatMap(({ id }) =>
        [0, 1, 3].map(async (after) => ({ id, after, events: await all(client.subscribe(id, { after })) })),
      )
      durably.start()
      const transcripts = Promise.all(read)
      let isRead = false
      transcripts.then(() => {
        isRead = true
      })
      for (let seconds = 0; !isRead && seconds < 600; seconds++) await env.advance(1000)
      if (!isRead) throw new Error('somebody did not see the end')
      // The watchers' line may still be away.
      for (let seconds = 0; faults.length > line.asked.length && seconds < 200; seconds++) await env.advance(1000)
      await env.advance(40_000)
      for (const { id, after, events } of await transcripts) {
        const log = (await logOf(store, id)).filter(({ sequence }) => sequence > after)
        expect(events.filter((event) => !isStream(event))).toEqual(log.filter((event) => !isStream(event)))
        const sequences = events.map(({ sequence }) => sequence)
        expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
        expect(events.reduce(reduceRun, emptyRunView).streams).toEqual(log.reduce(reduceRun, emptyRunView).streams)
      }
      expect(pages.at(-1)).toEqual(await durably.getRuns())
      for (const [i, page] of pages.entries()) expect(page).not.toEqual(pages[i - 1])
      controller.abort()
      await env.advance(100)
      await watching
      await durably.stop()
      await env.advance(40_000)
      expect(line.open()).toBe(0)
      expect(env.nextInMs()).toBeNull()
    }),
    { numRuns: 8 },
  )
})

test('watchers of the same share one connection; a page that comes again is not sent again', async () => {
  let fault: Fault | null = null
  const { env, durably, client, line } = await setup((_, path) => (path.includes('/events') ? fault : null))
  const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
  await job.trigger('a')
  const controller = new AbortController()
  const watch = (pages: (readonly Run[])[]) =>
    (async () => {
      for await (const page of client.watchRuns({ limit: 5 }, { signal: controller.signal })) pages.push(page)
    })().catch((error: unknown) => error)
  const seen: (readonly Run[])[][] = [[], [], []]
  const ended = seen.map(watch)
  await env.advance(100)
  expect(line.asked).toEqual(['/api/durably/events?limit=5'])
  expect(seen.map((pages) => pages.length)).toEqual([1, 1, 1])
  // The line goes silent, is noticed and replaced; the page is the same.
  fault = badGateway()
  line.cutAll()
  await env.advance(3000)
  fault = null
  await env.advance(15_000)
  expect(line.asked.length).toBeGreaterThan(2)
  expect(line.open()).toBe(1)
  expect(seen.map((pages) => pages.length)).toEqual([1, 1, 1])
  await job.trigger('b')
  await env.advance(200)
  for (const pages of seen) {
    expect(pages[1]?.map(({ payload }) => payload)).toEqual(['b', 'a'])
    expect(pages[1]?.[1]).toBe(pages[0]?.[0])
  }
  controller.abort('enough')
  expect(await Promise.all(ended)).toEqual(['enough', 'enough', 'enough'])
  await env.advance(100)
  expect(line.open()).toBe(0)
})

test('a watch that is refused fails, and the next one asks again', async () => {
  let isRefused = true
  const refusal = (): Fault => ({ type: 'answer', response: () => new Response('', { status: 403 }) })
  const { env, client } = await setup(() => (isRefused ? refusal() : null))
  const first = client.watchRuns()[Symbol.asyncIterator]().next()
  const outcome = expect(first).rejects.toMatchObject({ code: 'forbidden' })
  await env.advance(10)
  await outcome
  isRefused = false
  const again = client.watchRuns()[Symbol.asyncIterator]()
  const page = again.next()
  await env.advance(100)
  expect(await page).toEqual({ done: false, value: [] })
  await again.return?.()
  await env.advance(100)
})

test('who comes back to its subscription much later has missed nothing', async () => {
  const { env, durably, client, within } = await setup(() => null)
  const { opened, open } = gate()
  const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    for (let i = 0; i < 200; i++) await ctx.run(`${i}`, () => i)
    await opened
  })
  const { id } = await job.trigger(null)
  const iterator = client.subscribe(id)[Symbol.asyncIterator]()
  await within(100, iterator.next())
  durably.start()
  await env.advance(10_000)
  open()
  await env.advance(10_000)
  let last = 1
  for (let next = await within(1000, iterator.next()); !next.done; next = await within(1000, iterator.next())) {
    expect(next.value.sequence).toBe(last + 1)
    last = next.value.sequence
  }
  expect(last).toBe(403)
})

async function setup(faultOf: (asked: number, path: string) => Fault | null) {
  // News wake everybody here; polling would only cost turns.
  const world = await setupEngine('memory', { pollingInterval: 20_000 })
  const line = faultyFetch(serve(world), (path, asked) => faultOf(asked, path))
  const client = httpClient({ url: URL_OF_SERVER, fetch: line.fetch, env: world.env })
  return { ...world, client, line }
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}
