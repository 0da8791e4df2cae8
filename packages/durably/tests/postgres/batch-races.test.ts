// What groups of writes and claims of several runs can do to each other at once.
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import type { RunRow } from '../../src/model/run.ts'
import { decodeStreams, encodeStreams } from '../../src/model/stream.ts'
import { postgres } from '../../src/postgres/index.ts'
import type { Claim, OwnerVerb, OwnerWrite } from '../../src/store/owner-write.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { checkCoherence } from '../../src/testing/store-contract/coherence.ts'
import { openStore } from '../sql/place.ts'
import { newRun, realEnv, recordStep } from '../sql/runs.ts'
import { migratedPostgres } from './place.ts'

const ACCEPTED = { ok: true, cancelRequested: false }
const REST = { events: [], logs: [], progress: null, streams: null, effects: null }

test('two groups over the same runs in opposite order do not meet in a deadlock', async () => {
  const { store, url } = await patientPostgres()
  const others = await storesOf(url, 3)
  await store.runs.create(Array.from({ length: 60 }, () => newRun()))
  const claims = (await claimSome(store, 60)).map(claimOf)
  for (let number = 1; number <= 40; number++) {
    const group = claims.map((claim, i) => (i % 3 ? heartbeat(claim, number) : recordStep(claim, number)))
    const orders = [group, group.toReversed(), group.toSorted((a, b) => Number(a.verb.type > b.verb.type) - 0.5), odd(group)]
    const outcomes = await Promise.all([store, ...others].map((one, i) => one.runs.apply(orders[i] ?? group)))
    for (const outcome of outcomes) expect(outcome, `round ${number}`).toEqual(group.map(() => ACCEPTED))
  }
  for (const { runId } of claims) expect((await store.runs.get(runId))?.leaseWrites).toBe(40)
  await checkCoherence(store)
}, 50_000)

test('claims of several runs at once never share a key, and lose nothing', async () => {
  const { store, url } = await migratedPostgres()
  const claimers = await storesOf(url, 8)
  const jobs = [['job', 'other'], ['job'], ['other'], ['other', 'job']]
  const runs = Array.from({ length: 160 }, (_, i) => newRun({ jobName: i % 2 ? 'job' : 'other', concurrencyKey: keyOf(i) }))
  await store.runs.create(runs)
  const claimed: string[] = []
  for (let round = 0; claimed.length < runs.length; round++) {
    expect(round, 'rounds').toBeLessThan(300)
    const rows = (await Promise.all(claimers.map((one, i) => claimSome(one, 5, jobs[i % 4])))).flat()
    const keys = rows.flatMap(({ concurrencyKey }) => concurrencyKey ?? [])
    expect(new Set(keys).size, `keys of round ${round}`).toBe(keys.length)
    expect(rows.length, `claimed in round ${round}`).toBeGreaterThan(0)
    claimed.push(...rows.map(({ id }) => id))
    await store.runs.apply(rows.map((row) => ({ claim: claimOf(row), number: 1, ...REST, verb: { type: 'complete', output: null } })))
  }
  expect(new Set(claimed).size, 'each run once').toBe(runs.length)
  expect(await store.runs.list({ statuses: ['completed'] })).toHaveLength(runs.length)
  await checkCoherence(store)
}, 60_000)

test('a claim of several that is sent at once by many has one answer', async () => {
  const { store, url } = await migratedPostgres()
  const senders = await storesOf(url, 8)
  for (let round = 0; round < 30; round++) {
    await store.runs.create(Array.from({ length: 6 }, () => newRun({ jobName: `job ${round}` })))
    const request = { jobNames: [`job ${round}`], tokens: Array.from({ length: 3 }, () => realEnv.id()), leaseMs: 60_000 }
    const answers = await Promise.all(senders.map((sender) => sender.runs.claim(request)))
    for (const answer of answers)
      expect(
        answer.map(({ id }) => id),
        `round ${round}`,
      ).toEqual(answers[0]?.map(({ id }) => id))
    expect(answers[0]).toHaveLength(3)
  }
}, 60_000)

test('whoever claims a run that changes hands gets the streams that its last owner left', async () => {
  const { store, url } = await migratedPostgres()
  const workers = await storesOf(url, 6)
  await store.runs.create(Array.from({ length: 4 }, () => newRun()))
  const seen: { row: RunRow; left: string }[] = []
  await Promise.all(
    workers.map(async (worker, w) => {
      for (let i = 0; i < 60; i++) {
        const rows = await claimSome(worker, 1 + (i % 3))
        const released = rows.map((row, n): OwnerWrite => {
          const left = encodeStreams(Array.from({ length: (i + n) % 4 }, (_, s) => ({ stepName: `${w}/${i}/${s}`, kept: s, state: null })))
          seen.push({ row, left })
          return { claim: claimOf(row), number: 1, ...REST, streams: left, verb: { type: 'release' } }
        })
        expect(await worker.runs.apply(released)).toEqual(released.map(() => ACCEPTED))
      }
    }),
  )
  const left = new Map(seen.map(({ row, left }) => [`${row.id} ${row.leaseGeneration}`, left]))
  expect(left.size, 'every lease was held once').toBe(seen.length)
  for (const { row } of seen) {
    expect(row.streams).toBe(left.get(`${row.id} ${row.leaseGeneration - 1}`) ?? null)
    const resets = (await store.events.list(row.id, { after: row.lastEventSequence - decodeStreams(row.streams).length - 1 })).slice(
      0,
      decodeStreams(row.streams).length + 1,
    )
    expect(resets.map(({ type, payload }) => [type, JSON.parse(payload)])).toEqual([
      ['run:start', { generation: row.leaseGeneration, workerId: null }],
      ...decodeStreams(row.streams).map(({ stepName, kept }) => ['stream:reset', { stepName, to: kept }]),
    ])
  }
  await checkCoherence(store)
}, 60_000)

/** Who meets in a deadlock here waits for longer than a test may take. */
async function patientPostgres() {
  const { store, url } = await migratedPostgres()
  await store.db.executeQuery(CompiledQuery.raw(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '100s'`))
  return { store: openStore(postgres(url)), url }
}

/** Each with connections of its own, opened before the race. */
async function storesOf(url: string, count: number): Promise<SqlStore[]> {
  const stores = Array.from({ length: count }, () => openStore(postgres(url, { max: 2 })))
  await Promise.all(stores.map((store) => store.runs.list({ limit: 1 })))
  return stores
}

function claimSome({ runs }: SqlStore, wanted: number, jobNames: readonly string[] = ['job']): Promise<RunRow[]> {
  return runs.claim({ jobNames, tokens: Array.from({ length: wanted }, () => realEnv.id()), leaseMs: 60_000 })
}

/** A third has no key; the others share eight, which meet in another order in each job. */
function keyOf(i: number): string | null {
  return i % 3 === 0 ? null : `k${(i % 2 ? i : 997 * i) % 8}`
}

function claimOf({ id, leaseGeneration, leaseOwner }: RunRow): Claim {
  return { runId: id, generation: leaseGeneration, token: leaseOwner ?? '' }
}

function heartbeat(claim: Claim, number: number): OwnerWrite {
  const verb: OwnerVerb = { type: 'heartbeat', leaseMs: 60_000 }
  return { claim, number, ...REST, events: [{ type: 'run:progress', payload: { generation: claim.generation }, createdAt: '' }], verb }
}

function odd<T>(items: readonly T[]): T[] {
  return [...items.filter((_, i) => i % 2), ...items.filter((_, i) => i % 2 === 0)]
}
