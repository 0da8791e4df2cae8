// Long stretches of virtual time with a started worker: its polls that would find nothing are left out, and nothing is found later.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../durably.ts'
import { memoryStore } from '../memory.ts'
import { sqlite } from '../sqlite/index.ts'
import { sqlStore } from '../store/sql/sql-store.ts'
import type { Store } from '../store/store.ts'
import { virtualEnv } from './virtual-env.ts'

const nothing = z.object({})
const DAY_MS = 86_400_000

function counting(store: Store) {
  const counts = { probes: 0 }
  const probe: Store['runs']['probe'] = (names) => {
    counts.probes++
    return store.runs.probe(names)
  }
  return { counts, store: { ...store, runs: { ...store.runs, probe } } }
}

describe.each([
  ['memory', (env: ReturnType<typeof virtualEnv>): Store => memoryStore({ env })],
  ['SQLite', (env: ReturnType<typeof virtualEnv>): Store => sqlStore({ dialect: sqlite(':memory:'), env })],
])('with %s', (_, open) => {
  async function setup() {
    const env = virtualEnv()
    const { counts, store } = counting(open(env))
    await store.migrate()
    return { env, store, counts, durably: createDurably({ store, env, logger: false }) }
  }

  test('14 days take a handful of polls, and a sleep ends at its time', async () => {
    const { env, counts, durably } = await setup()
    const job = durably.defineJob({ name: 'trial', input: nothing }, async (ctx) => {
      await ctx.sleep('trial period', '13d')
      return env.mono()
    })
    durably.start()
    const { id } = await job.trigger({})
    await env.advance('14d')
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 13 * DAY_MS })
    expect(counts.probes).toBeLessThan(20)
    await durably.stop()
  })

  test('the worker is alive after them', async () => {
    const { env, durably } = await setup()
    durably.defineJob({ name: 'job', input: nothing }, () => {})
    durably.start()
    await env.advance('14d')
    expect(await durably.health()).toMatchObject({ isAlive: true, isReady: true })
    await durably.stop()
  })

  test('a run that another instance triggers is found at the next poll, also in the middle of a leap', async () => {
    const { env, store, durably } = await setup()
    const define = (on: typeof durably) => on.defineJob({ name: 'job', input: nothing }, () => env.mono())
    define(durably)
    const other = createDurably({ store, env, logger: false })
    durably.start()
    const triggered: string[] = []
    const job = define(other)
    env.timer(5 * DAY_MS + 300, () => void job.trigger({}).then(({ id }) => triggered.push(id)))
    await env.advance('14d')
    const run = await job.getRun(triggered[0] ?? '')
    expect(run?.output).toBeLessThanOrEqual(5 * DAY_MS + 1300)
    await durably.stop()
  })

  test('a caller that waits for the run of another instance is woken', async () => {
    const { env, store, durably } = await setup()
    const define = (on: typeof durably) => on.defineJob({ name: 'job', input: nothing }, (ctx) => ctx.sleep('nap', '10d'))
    define(durably)
    durably.start()
    const job = define(createDurably({ store, env, logger: false }))
    let endedAt = 0
    void job.triggerAndWait({}).then(() => {
      endedAt = env.mono()
    })
    await env.advance('14d')
    expect(endedAt).toBeGreaterThanOrEqual(10 * DAY_MS)
    expect(endedAt).toBeLessThanOrEqual(10 * DAY_MS + 2000)
    await durably.stop()
  })
})
