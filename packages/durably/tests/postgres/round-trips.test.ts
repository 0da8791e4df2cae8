// Counted on the wire, not timed: how often a verb waits for the server.
import { CompiledQuery } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDurably } from '../../src/durably.ts'
import type { Claim, OwnerWrite } from '../../src/store/owner-write.ts'
import type { RunStore } from '../../src/store/runs.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { migratedStore } from '../sql/place.ts'
import { claimed, newRun, realEnv, recordStep } from '../sql/runs.ts'
import { DIALECTS, temporaryDatabase } from './place.ts'
import { wireTo } from './wire.ts'

describe.each(DIALECTS)('$name', ({ over }) => {
  async function setup() {
    const { pool, roundTrips } = wireTo(await temporaryDatabase())
    onTestFinished(() => pool.end())
    const store = await migratedStore(over(pool))
    return { store, pool, roundTrips }
  }

  test('creating a run is one round trip, also when its key is known', async () => {
    const { store, roundTrips } = await setup()
    expect(await roundTrips(() => store.runs.create([newRun()]))).toBe(1)
    expect(await roundTrips(() => store.runs.create([newRun({ idempotencyKey: 'k' })]))).toBe(1)
    expect(await roundTrips(() => store.runs.create([newRun({ idempotencyKey: 'k' })]))).toBe(1)
  })

  test('creating 1,000 runs is one round trip', async () => {
    const { store, roundTrips } = await setup()
    const runs = Array.from({ length: 1000 }, (_, i) => newRun({ idempotencyKey: i % 2 ? `${i}` : null }))
    expect(await roundTrips(() => store.runs.create(runs))).toBe(1)
    expect(await roundTrips(() => store.runs.create(runs))).toBe(1)
  })

  test('a claim is one round trip, also when there is nothing to claim or it is sent again', async () => {
    const { store, roundTrips } = await setup()
    const claim = (token: string) => roundTrips(() => store.runs.claim({ jobNames: ['job', 'other'], tokens: [token], leaseMs: 60_000 }))
    expect(await claim('a')).toBe(1)
    await store.runs.create([newRun()])
    expect(await claim('b')).toBe(1)
    expect(await claim('b')).toBe(1)
  })

  test('a claim of ten runs is one round trip, also when there are fewer or it is sent again', async () => {
    const { store, roundTrips } = await setup()
    const tokens = Array.from({ length: 10 }, (_, i) => `token ${i}`)
    const claim = async (found: number) =>
      expect(await store.runs.claim({ jobNames: ['job', 'other'], tokens, leaseMs: 60_000 })).toHaveLength(found)
    expect(await roundTrips(() => claim(0))).toBe(1)
    await store.runs.create(Array.from({ length: 12 }, (_, i) => newRun({ jobName: i % 2 ? 'job' : 'other' })))
    expect(await roundTrips(() => claim(10))).toBe(1)
    expect(await roundTrips(() => claim(10))).toBe(1)
    const more = { jobNames: ['job', 'other'], tokens: tokens.map((token) => `other ${token}`), leaseMs: 60_000 }
    expect(await roundTrips(async () => expect(await store.runs.claim(more)).toHaveLength(2))).toBe(1)
  })

  test('ten writes in one call are one round trip and one commit, whatever they write', async () => {
    const { store, roundTrips } = await setup()
    const claims = await tenClaims(store)
    const line = (runId: string) => ({
      id: realEnv.id(),
      runId,
      stepName: null,
      level: 'info' as const,
      message: 'm',
      data: null,
      timestamp: 'now',
    })
    const apply = async (writes: OwnerWrite[]) =>
      expect(await store.runs.apply(writes)).toEqual(writes.map(() => ({ ok: true, cancelRequested: false })))
    expect(await roundTrips(() => apply(claims.map((claim) => ({ ...recordStep(claim, 1), logs: [line(claim.runId)] }))))).toBe(1)
    expect(await transactions(store)).toEqual({ runs: 1, steps: 1, logs: 1, run_events: 2 + 1 })
    const verbs: OwnerWrite['verb'][] = [{ type: 'heartbeat', leaseMs: 1000 }, { type: 'complete', output: null }, { type: 'release' }]
    const mixed = claims.map((claim, i) => ({ ...recordStep(claim, 2), ...(verbs[i] && { verb: verbs[i] }) }))
    expect(await roundTrips(() => apply(mixed))).toBe(1)
    expect(await transactions(store)).toMatchObject({ runs: 1, steps: 2 })
    // Sent again, they are looked at once more, all together.
    expect(await roundTrips(() => apply(mixed))).toBe(2)
  })

  test('a second write of one run among others is a second statement of the same transaction', async () => {
    const { store, roundTrips } = await setup()
    const claims = await tenClaims(store)
    const [first] = claims
    const writes = [...claims.map((claim) => recordStep(claim, 1)), ...(first ? [recordStep(first, 2)] : [])]
    expect(await roundTrips(() => store.runs.apply(writes))).toBe(4)
    expect(await transactions(store)).toMatchObject({ runs: 1, steps: 1 })
  })

  test('every owner write is one round trip; only a refused one is looked at once more', async () => {
    const { store, roundTrips } = await setup()
    const claim = await claimed(store)
    const first = recordStep(claim, 1)
    const line = { runId: claim.runId, stepName: null, level: 'info' as const, message: 'm', data: null, timestamp: 'now' }
    const logs = Array.from({ length: 100 }, (_, i) => ({ id: realEnv.id(), ...line, message: `${i}` }))
    const apply = (...writes: Parameters<RunStore['apply']>[0]) => roundTrips(() => store.runs.apply(writes))
    expect(await apply(first)).toBe(1)
    expect(await apply({ ...recordStep(claim, 2), logs, events: Array(100).fill(first.events[0]) })).toBe(1)
    expect(await apply({ ...first, number: 3, events: [], verb: { type: 'heartbeat', leaseMs: 60_000 } })).toBe(1)
    expect(await apply({ ...first, number: 4, verb: { type: 'complete', output: null } })).toBe(1)
    expect(await apply(first)).toBe(2)
  })

  test('a cancel is one transaction of two statements', async () => {
    const { store, roundTrips } = await setup()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    expect(await roundTrips(() => store.runs.cancel(run.id))).toBe(4)
  })

  test.each(['retry', 'delete'] as const)('%s is one round trip', async (verb) => {
    const { store, roundTrips } = await setup()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    expect(await roundTrips(() => store.runs[verb](run.id))).toBe(1)
    expect(await roundTrips(() => store.runs[verb]('nobody'))).toBe(1)
  })

  test('reap and probe are one round trip each', async () => {
    const { store, roundTrips } = await setup()
    await store.runs.create([newRun()])
    await store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1 })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await roundTrips(async () => expect(await store.runs.reap({ maxRecoveries: 3 })).toHaveLength(1))).toBe(1)
    expect(await roundTrips(() => store.runs.probe(['a', 'b', 'c']))).toBe(1)
  })

  test('what the followers of ten runs read at the same time is one round trip each for logs, runs and steps', async () => {
    const { store, roundTrips } = await setup()
    const claims = await tenClaims(store)
    const writes = claims.map((claim) => recordStep(claim, 1))
    await store.runs.apply(writes)
    const stepIds = writes.map(({ verb }) => (verb.type === 'recordStep' ? verb.step.id : ''))
    // Two followers of each run.
    const followers = [0, 1].flatMap(() => claims.map(({ runId }, run) => ({ runId, run })))
    const after = (run: number) => run % 2
    const logs = await oneTrip(() => followers.map(({ runId, run }) => store.events.list(runId, { after: after(run), limit: 2 })))
    expect(logs.map((log) => log.map(({ runId, seq }) => [runId, seq]))).toEqual(
      followers.map(({ runId, run }) => [1, 2].map((n) => [runId, after(run) + n])),
    )
    const runs = await oneTrip(() => [...followers, { runId: 'nobody' }].map(({ runId }) => store.runs.get(runId)))
    expect(runs.map((run) => run?.id ?? null)).toEqual([...followers.map(({ runId }) => runId), null])
    const wanted = (run: number) => [stepIds[run] ?? '', stepIds[(run + 1) % 10] ?? '', 'nothing']
    const steps = await oneTrip(() => followers.map(({ runId, run }) => store.steps.find(runId, wanted(run))))
    expect(steps.map((rows) => rows.map(({ id }) => id))).toEqual(followers.map(({ run }) => [stepIds[run]]))

    async function oneTrip<T>(reads: () => Promise<T>[]): Promise<T[]> {
      let answers: T[] = []
      const trips = await roundTrips(async () => {
        answers = await Promise.all(reads())
      })
      expect(trips).toBe(1)
      return answers
    }
  })

  test('ten runs in step share their round trips', async () => {
    const { pool, roundTrips } = wireTo(await temporaryDatabase())
    onTestFinished(() => pool.end())
    const durably = createDurably({ dialect: over(pool), notifications: false, concurrency: 10 })
    onTestFinished(() => durably[Symbol.asyncDispose]())
    await durably.migrate()
    const job = durably.defineJob({ name: 'steps', input: anything }, async (ctx) => {
      for (let i = 0; i < 5; i++) await ctx.run(`step ${i}`, async () => i)
    })
    await job.batchTrigger(Array.from({ length: 10 }, () => ({ payload: {} })))
    let ended = 0
    const allEnded = new Promise<void>((resolve) => void durably.on('run:complete', () => ++ended === 10 && resolve()))
    const trips = await roundTrips(async () => {
      durably.start()
      await allEnded
    })
    // The look, the claim, five steps and the end; a busy event loop may part a group. Alone they would take seventy.
    expect(trips).toBeLessThanOrEqual(2 * (1 + 1 + 5 + 1))
  })

  test.each([1, 5])('trigger is 1, batchTrigger of 1,000 at most 2, and a run of %i steps takes k + 2', async (k) => {
    const { pool, roundTrips } = wireTo(await temporaryDatabase())
    onTestFinished(() => pool.end())
    // They have a connection of their own, but their self-test asks a pool that was handed in.
    const durably = createDurably({ dialect: over(pool), notifications: false })
    onTestFinished(() => durably[Symbol.asyncDispose]())
    await durably.migrate()
    const job = durably.defineJob({ name: 'steps', input: anything, output: anything }, async (ctx) => {
      for (let i = 0; i < k; i++) await ctx.run(`step ${i}`, async () => i)
      return 'done'
    })
    expect(await roundTrips(() => job.trigger({ n: 1 }))).toBe(1)
    // One more: processOne() looks first whether there is anything to do.
    expect(await roundTrips(async () => expect(await durably.processOne()).toBe(true))).toBe(1 + k + 2)
    const batch = Array.from({ length: 1000 }, (_, n) => ({ payload: { n } }))
    expect(await roundTrips(() => job.batchTrigger(batch))).toBeLessThanOrEqual(2)
  })
})

const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const

async function tenClaims(store: SqlStore): Promise<Claim[]> {
  await store.runs.create(Array.from({ length: 10 }, () => newRun()))
  const rows = await store.runs.claim({ jobNames: ['job'], tokens: Array.from({ length: 10 }, () => realEnv.id()), leaseMs: 60_000 })
  return rows.map((row) => ({ runId: row.id, generation: row.leaseGeneration, token: row.leaseOwner ?? '' }))
}

/** How many transactions wrote the rows of each table. */
async function transactions({ db }: SqlStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['runs', 'steps', 'logs', 'run_events']) {
    const { rows } = await db.executeQuery(CompiledQuery.raw(`SELECT count(DISTINCT xmin::text)::int AS n FROM ${table}`))
    counts[table] = (rows[0] as { n: number }).n
  }
  return counts
}
