// Whatever runs prefer, whoever is in the register and whoever claims: each store claims what three lines of arithmetic say (A4).
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunRow } from '../../src/model/run.ts'
import type { Store } from '../../src/store/store.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { newRun, recordStep } from '../sql/runs.ts'
import { type OpenStore, STORES } from './stores.ts'

const PREFER_MS = 2000
const WORKERS = ['a', 'b', 'c']
const SEQUENCES = 150

type Act =
  | { act: 'create'; preferWorkerId: string | null; concurrencyKey: string | null; jobName: string; delayMs: number }
  | { act: 'enter' | 'leave' | 'drain'; worker: string }
  | { act: 'pass'; ms: number }
  | { act: 'claim'; worker: string; wanted: number; jobNames: readonly string[] }
  | { act: 'end' }

const worker = fc.constantFrom(...WORKERS)
const acts: fc.Arbitrary<Act>[] = [
  fc.record({
    act: fc.constant('create' as const),
    preferWorkerId: fc.constantFrom(null, 'a', 'b', 'nobody'),
    concurrencyKey: fc.constantFrom(null, 'k', 'l'),
    jobName: fc.constantFrom('one', 'other'),
    delayMs: fc.constantFrom(0, 0, 1500),
  }),
  fc.record({ act: fc.constantFrom('enter' as const, 'enter' as const, 'leave' as const, 'drain' as const), worker }),
  fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(1, 500, PREFER_MS) }),
  fc.record({
    act: fc.constant('claim' as const),
    worker,
    wanted: fc.integer({ min: 1, max: 3 }),
    jobNames: fc.constantFrom(['one'], ['one', 'other']),
  }),
  fc.record({ act: fc.constant('end' as const) }),
]

describe.each(STORES.filter(({ missing }) => missing === null))('$name', ({ open, share }) => {
  const env = virtualEnv({ seed: 7 })
  let place: OpenStore
  beforeAll(async () => {
    place = await open(env)
  })
  afterAll(() => place.close())

  test('claims what is open to a worker, and nothing else', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...acts), { minLength: 5, maxLength: 40 }), async (given) => {
        const store = await place.empty()
        for (const { id } of (await store.cluster?.workers()) ?? []) await store.cluster?.leave({ id, token: id })
        for (const one of given) await perform(store, env, one)
      }),
      { numRuns: Math.ceil(SEQUENCES * share) },
    )
  })
})

async function perform(store: Store, env: ReturnType<typeof virtualEnv>, given: Act): Promise<void> {
  const { runs, cluster } = store
  if (!cluster) throw new Error('the store has no chapter `cluster`')
  switch (given.act) {
    case 'create': {
      const { preferWorkerId, act: _, ...run } = given
      await runs.create([newRun({ id: env.id(), ...run, ...(preferWorkerId !== null && { preferWorkerId }) })])
      return
    }
    case 'enter':
      await cluster.attend({ ...entry(given.worker), lastsMs: 3000 })
      return
    case 'leave':
      return cluster.leave({ id: given.worker, token: given.worker })
    case 'drain':
      await cluster.switchWorker(given.worker, 'draining')
      return
    case 'pass':
      await env.advance(given.ms)
      return
    case 'end':
      for (const { id, leaseGeneration: generation, leaseOwner } of await runs.list({ statuses: ['running'] })) {
        const claim = { runId: id, generation, token: leaseOwner ?? '' }
        await runs.apply([{ ...recordStep(claim, 1), verb: { type: 'complete', output: null } }])
      }
      return
    case 'claim': {
      const { worker: workerId, wanted, jobNames } = given
      const expected = await openTo(store, workerId, jobNames, env.wall())
      const tokens = Array.from({ length: wanted }, () => env.id())
      const claimed = await cluster.claimOpen({ jobNames, tokens, leaseMs: 1e9, workerId, preferMs: PREFER_MS })
      expect(claimed.map(({ id }) => id)).toEqual(expected.slice(0, wanted))
    }
  }
}

function entry(id: string) {
  return { id, token: id, labels: '{}', capacity: 1, jobNames: '["one","other"]', version: null }
}

/** In their turn; of each key the first. */
async function openTo({ runs, cluster }: Store, workerId: string, jobNames: readonly string[], now: number): Promise<string[]> {
  const there = ((await cluster?.workers()) ?? []).filter(({ state, expiresInMs }) => state === 'attached' && expiresInMs > 0)
  const isLeft = ({ preferWorkerId, runAt }: RunRow) =>
    preferWorkerId !== workerId && runAt + PREFER_MS > now && there.some(({ id }) => id === preferWorkerId)
  const all = await runs.list({})
  const inTurn = (a: RunRow, b: RunRow) => a.runAt - b.runAt || (a.id < b.id ? -1 : 1)
  const due = all.filter(({ status, runAt }) => status === 'pending' && runAt <= now).sort(inTurn)
  const taken = new Set(all.flatMap(({ status, concurrencyKey }) => (status === 'running' ? (concurrencyKey ?? []) : [])))
  return due.flatMap((run) => {
    const { id, concurrencyKey, jobName } = run
    if (concurrencyKey !== null && taken.has(concurrencyKey)) return []
    const isOpen = !isLeft(run)
    if (isOpen && !jobNames.includes(jobName)) return []
    if (concurrencyKey !== null) taken.add(concurrencyKey)
    return isOpen ? id : []
  })
}
