// A reply that never comes: the connection stays open and silent. The call is rejected as unknown (S2), its connection is
// given up, and the next call has another.
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { isPassing } from '../../src/model/errors.ts'
import { postgres } from '../../src/postgres/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { openStore } from '../sql/place.ts'
import { claimed, newRun, recordStep } from '../sql/runs.ts'
import { FaultyLine } from './faulty-line.ts'
import { migratedPostgres } from './place.ts'

const TIMEOUT_MS = 300
/** The reply is lost, what was asked is done. */
const SWALLOW = { type: 'swallow' } as const

async function setup(over: (url: string, options: { max: number; queryTimeout: number }) => ReturnType<typeof postgres> = postgres) {
  const { store: direct, url } = await migratedPostgres()
  const line = await FaultyLine.to(url)
  onTestFinished(() => line.close())
  const store = openStore(over(line.url, { max: 1, queryTimeout: TIMEOUT_MS }))
  return { store, direct, line }
}

function userPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1 })
  // Dropping its database may cut a connection that is just ending.
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return pool
}

describe('a reply that is swallowed', () => {
  test('the call is rejected, and the same call succeeds on another connection', async () => {
    const { store, direct, line } = await setup()
    const claim = await claimed(store)
    line.order(SWALLOW)
    const write = recordStep(claim, 1)
    const error = await rejects(store.runs.apply([write]), 'store_unavailable', 'the call without a reply')
    expect(isPassing(error)).toBe(true)
    expect(await direct.steps.list(claim.runId)).toHaveLength(1)
    expect(await store.runs.apply([write])).toEqual([{ ok: true, cancelRequested: false }])
    expect(await direct.steps.list(claim.runId)).toHaveLength(1)
    expect(line.figures.swallowed).toBe(1)
  })

  test('a pool that the user made recovers as well', async () => {
    const { store, line } = await setup((url, { queryTimeout }) => postgres(userPool(url), { queryTimeout }))
    for (let i = 0; i < 3; i++) {
      await store.runs.list({})
      line.order(SWALLOW)
      await rejects(store.runs.list({}), 'store_unavailable', 'the call without a reply')
    }
    expect(await store.runs.list({})).toEqual([])
  })

  test('within a transaction nothing is sent after it, not even a rollback, and nothing of it is there', async () => {
    const sent: unknown[] = []
    const { store, direct, line } = await setup((url, { queryTimeout }) => {
      const pool = userPool(url)
      pool.on('connect', (client) => {
        const query = vi.spyOn(client, 'query')
        query.mockImplementation((...args: unknown[]) => {
          sent.push(Reflect.get(Object(args[0]), 'text'))
          return Reflect.apply(pg.Client.prototype.query, client, args)
        })
      })
      return postgres(pool, { queryTimeout })
    })
    await store.runs.list({})
    line.order(SWALLOW)
    // More than one statement takes.
    const runs = Array.from({ length: 1100 }, () => newRun())
    await rejects(store.runs.create(runs), 'store_unavailable', 'the transaction without a reply')
    expect(sent.slice(1)).toEqual(['begin'])
    expect(await store.runs.create(runs)).toHaveLength(1100)
    expect(await direct.runs.list({})).toHaveLength(1100)
  })

  test('on all connections at once: calls that wait for one get it', async () => {
    const { line } = await setup()
    const store = openStore(postgres(line.url, { max: 3, queryTimeout: TIMEOUT_MS }))
    await Promise.all(Array.from({ length: 3 }, () => store.runs.list({})))
    const silent: Promise<unknown>[] = []
    for (let swallowed = 1; swallowed <= 3; swallowed++) {
      line.order(SWALLOW)
      silent.push(rejects(store.runs.list({}), 'store_unavailable', 'the call without a reply'))
      await vi.waitUntil(() => line.figures.swallowed === swallowed, { interval: 1 })
    }
    expect(await Promise.all(Array.from({ length: 6 }, () => store.runs.list({})))).toEqual(Array(6).fill([]))
    await Promise.all(silent)
  })
})

test('a reply in time is no reason to wait', async () => {
  const { store, line } = await setup()
  await store.runs.list({})
  line.order({ type: 'delay reply', ms: TIMEOUT_MS / 3 })
  expect(await store.runs.list({})).toEqual([])
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '30' as never])('queryTimeout %s is refused', (queryTimeout) => {
  expect(() => postgres('postgres://localhost/app', { queryTimeout })).toThrow(
    `queryTimeout must be a whole number of milliseconds from 1 to 2147483647, got ${queryTimeout}`,
  )
})
