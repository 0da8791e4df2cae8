// A list of runs: live, and no row of an older page stands still (runs-observer.ts, L1 and L2).
import { type DurablyClient, localClient } from '@coji/durably/client'
import { virtualEnv } from '@coji/durably/testing'
import { expect, onTestFinished, test } from 'vitest'
import { filterKey, Observers } from '../src/observe/observers.ts'
import type { RunsState } from '../src/observe/runs-observer.ts'
import { createTestDurably, type TestJobs } from './jobs.ts'
import { watchedClient } from './watched-client.ts'

/** Older pages come so much later. */
function setup({ olderMs = 0 } = {}) {
  const env = virtualEnv()
  const { durably, jobs } = createTestDurably({ env })
  const client = localClient<TestJobs>(durably)
  const watched = watchedClient(client, {
    async getRuns(filter) {
      const runs = await client.getRuns(filter)
      if (olderMs > 0) await new Promise<void>((resolve) => void env.timer(olderMs, resolve))
      return runs
    },
  })
  const observers = new Observers(watched.client as unknown as DurablyClient, env)
  durably.start()
  onTestFinished(async () => {
    const stopped = durably.stop({ timeout: 0 })
    await env.advance(2000)
    await stopped
  })
  const look = (key: string) => {
    const states: RunsState[] = []
    const leave = observers.joinRuns(key, () => states.push(now()))
    const now = () => observers.runs(key)?.state as RunsState
    const ids = () => now().runs.map(({ id }) => id)
    return { leave, now, ids, states, loadMore: async () => observers.runs(key)?.loadMore() }
  }
  /** Newest first. */
  const trigger = async (count: number) => {
    const ids: string[] = []
    for (let i = 0; i < count; i++) {
      ids.unshift((await jobs.work.trigger({ steps: 1 })).id)
      await env.advance(10)
    }
    return ids
  }
  return { env, durably, jobs, observers, look, trigger, ...watched }
}

const PAIRS = filterKey({ jobName: 'work', limit: 2 })

test('the newest runs that match, live: new ones, changed ones, deleted ones', async () => {
  const { env, jobs, durably, look, trigger } = setup()
  const seen = look(filterKey({ jobName: 'work' }))
  expect(seen.now()).toMatchObject({ runs: [], isLoading: true })
  const [second = '', first = ''] = await trigger(2)
  await env.advance(1000)
  expect(seen.now()).toMatchObject({ isLoading: false, hasMore: false, connection: 'live', error: null })
  expect(seen.now().runs).toMatchObject([
    { id: second, status: 'running' },
    { id: first, status: 'running' },
  ])
  await jobs.go.trigger({ runId: first })
  await env.advance(1000)
  expect(seen.now().runs).toMatchObject([{ status: 'running' }, { status: 'completed', output: 1 }])
  await durably.deleteRun(first)
  await env.advance(1000)
  expect(seen.ids()).toStrictEqual([second])
})

test('those who ask for the same share one watch, which goes when all have left', async () => {
  const { env, look, calls, open } = setup()
  look(filterKey({ limit: 2, jobName: 'work' })).leave()
  const [one, two] = [look(PAIRS), look(PAIRS)]
  await env.advance(5000)
  expect([calls, open()]).toStrictEqual([{ watchRuns: 1 }, 1])
  one.leave()
  two.leave()
  await env.advance(2000)
  expect(open()).toBe(0)
})

test('older pages are added until there are no more', async () => {
  const { env, look, trigger } = setup()
  const ids = await trigger(5)
  const seen = look(PAIRS)
  await env.advance(1000)
  expect([seen.ids(), seen.now().hasMore]).toStrictEqual([ids.slice(0, 2), true])
  const more = seen.loadMore()
  expect(seen.now().isLoadingMore).toBe(true)
  await more
  expect(seen.now()).toMatchObject({ hasMore: true, isLoadingMore: false })
  expect(seen.ids()).toStrictEqual(ids.slice(0, 4))
  await seen.loadMore()
  await seen.loadMore()
  expect([seen.ids(), seen.now().hasMore]).toStrictEqual([ids, false])
})

test('loadMore resolves when its page is there, also if the older ones are being read anyway', async () => {
  const { env, look, trigger } = setup({ olderMs: 1000 })
  const ids = await trigger(7)
  const seen = look(PAIRS)
  await env.advance(1000)
  const first = seen.loadMore()
  await env.advance(1500)
  await first
  expect(seen.ids()).toStrictEqual(ids.slice(0, 4))
  // They are read again every ten seconds, and somebody scrolls down meanwhile.
  await env.advance(9700)
  let isThere = false
  const second = seen.loadMore().then(() => {
    isThere = true
  })
  await env.advance(10)
  expect([isThere, seen.now().isLoadingMore, seen.ids()]).toStrictEqual([false, true, ids.slice(0, 4)])
  await env.advance(5000)
  await second
  expect([isThere, seen.now().isLoadingMore, seen.ids()]).toStrictEqual([true, false, ids.slice(0, 6)])
})

test('when new runs come, none that is shown gets lost or doubled, at any moment (L2)', async () => {
  const { env, look, trigger } = setup({ olderMs: 150 })
  const ids = await trigger(4)
  const seen = look(PAIRS)
  await env.advance(1000)
  void seen.loadMore()
  await env.advance(1000)
  seen.states.length = 0
  const newer: string[] = []
  for (let i = 0; i < 3; i++) {
    newer.unshift(...(await trigger(1)))
    await env.advance(120)
  }
  await env.advance(1000)
  expect(seen.ids()).toStrictEqual([...newer, ...ids].slice(0, 4))
  for (const { runs } of seen.states) {
    const shown = runs.map(({ id }) => id)
    const from = [...newer, ...ids].indexOf(shown[0] ?? '')
    expect(shown).toStrictEqual([...newer, ...ids].slice(from, from + shown.length))
  }
})

test('rows of older pages change too (L1)', async () => {
  const { env, jobs, durably, look, trigger } = setup()
  const ids = await trigger(4)
  const seen = look(PAIRS)
  await env.advance(1000)
  await seen.loadMore()
  await jobs.go.trigger({ runId: ids[3] ?? '' })
  await jobs.go.trigger({ runId: ids[2] ?? '' })
  await env.advance(10_000)
  expect(seen.now().runs.map(({ status }) => status)).toStrictEqual(['running', 'running', 'completed', 'completed'])
  await durably.deleteRun(ids[2] ?? '')
  await env.advance(10_000)
  expect(seen.ids()).toStrictEqual([ids[0], ids[1], ids[3]])
})

test.each(['watchRuns', 'getRuns'] as const)('when %s fails it is shown, what was known stays, and it recovers', async (method) => {
  const { env, look, trigger, fail } = setup()
  const ids = await trigger(4)
  const seen = look(PAIRS)
  await env.advance(1000)
  fail(method, new Error('away'))
  await seen.loadMore()
  await env.advance(1000)
  expect(seen.now()).toMatchObject({ error: { message: 'away' }, isLoadingMore: false })
  expect(seen.ids().slice(0, 2)).toStrictEqual(ids.slice(0, 2))
  fail(method, null)
  await env.advance(20_000)
  expect(seen.now()).toMatchObject({ connection: 'live', error: null })
  expect(seen.ids()).toStrictEqual(ids)
})

test('a filter that is refused says why', async () => {
  const { env, look } = setup()
  const seen = look(filterKey({ limit: 1000 }))
  await env.advance(1000)
  expect(seen.now()).toMatchObject({ error: { code: 'invalid_argument' }, connection: 'reconnecting' })
})
