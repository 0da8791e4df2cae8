// What two connections can do to each other at once (research/reliability.md §2.1, §3.3).
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { migratedStore, openStore } from '../sql/place.ts'
import { claimed, newRun, realEnv, recordStep } from '../sql/runs.ts'
import { migratedPostgres, temporaryDatabase } from './place.ts'

const CLAIMERS = 8
const ROUNDS = 40

describe('one concurrency key', () => {
  test(`${CLAIMERS} claimers, ${ROUNDS} rounds: never two running runs, and never nobody`, async () => {
    const { store, url } = await migratedPostgres()
    const claimers = await claimersOf(url)
    for (let round = 0; round < ROUNDS; round++) {
      await store.runs.create([newRun({ concurrencyKey: 'k' }), newRun({ jobName: 'other', concurrencyKey: 'k' })])
      expect(await winners(claimers, jobOf), `round ${round}`).toHaveLength(1)
      await cancelAll(store)
    }
  }, 60_000)

  test('a claim that began before another run took the key to hold it gets nothing', async () => {
    const { store, url } = await migratedPostgres()
    const holding = newRun({ concurrencyKey: 'k', holdKey: true })
    await store.runs.create([holding, newRun({ jobName: 'other', concurrencyKey: 'k' })])
    const taking = await session(url)
    await taking.query('BEGIN')
    // As if it was claimed and parked while the claim below is under way.
    await taking.query('UPDATE runs SET lease_generation = 1, started_at = 1, run_at = 9e12::bigint WHERE id = $1', [holding.id])
    const claim = store.runs.claim({ jobNames: ['other'], tokens: [realEnv.id()], leaseMs: 60_000 })
    await untilOneWaits(url)
    await taking.query('COMMIT')
    expect(await claim).toEqual([])
    expect(await store.runs.getHolder('k')).toMatchObject({ id: holding.id, status: 'pending' })
  })

  test('the control: without its index, NOT EXISTS and SKIP LOCKED let several through', async () => {
    const { store, url } = await migratedPostgres()
    await ask(url, 'DROP INDEX runs_running_key')
    const claimers = await claimersOf(url)
    let most = 0
    for (let round = 0; round < ROUNDS * 5 && most < 2; round++) {
      await store.runs.create(Array.from({ length: CLAIMERS }, (_, i) => newRun({ jobName: i % 2 ? 'job' : 'other', concurrencyKey: 'k' })))
      most = Math.max(most, (await winners(claimers, jobOf)).length)
      await cancelAll(store)
    }
    expect(most).toBeGreaterThan(1)
  }, 60_000)
})

test(`${CLAIMERS} claimers and as many runs of several jobs: each gets one, nobody is sent away`, async () => {
  const { store, url } = await migratedPostgres()
  const claimers = await claimersOf(url)
  for (let round = 0; round < 15; round++) {
    await store.runs.create(Array.from({ length: CLAIMERS }, (_, i) => newRun({ jobName: i % 2 ? 'job' : 'other' })))
    const ids = (await winners(claimers)).map(({ id }) => id)
    expect(new Set(ids).size, `round ${round}`).toBe(CLAIMERS)
    await cancelAll(store)
  }
}, 60_000)

describe('a zombie and the takeover of its run', () => {
  test('the takeover comes first: the step waits for it, and is refused with all that is attached', async () => {
    const { store, url } = await migratedPostgres()
    const zombie = await claimed(store)
    const takeover = await session(url)
    await takeover.query('BEGIN')
    await takeover.query(`UPDATE runs SET lease_generation = lease_generation + 1, lease_owner = 'next' WHERE id = $1`, [zombie.runId])
    const line = { id: realEnv.id(), runId: zombie.runId, stepName: null, level: 'info' as const, message: '', data: null, timestamp: '' }
    const outcome = store.runs.apply([{ ...recordStep(zombie, 1), logs: [line], progress: '1' }])
    await untilOneWaits(url)
    await takeover.query('COMMIT')
    expect(await outcome).toEqual([{ ok: false }])
    expect(await store.steps.list(zombie.runId)).toEqual([])
    expect(await store.logs.list(zombie.runId)).toEqual([])
    expect((await store.events.list(zombie.runId)).map(({ type }) => type)).toEqual(['run:trigger', 'run:start'])
    expect((await store.runs.get(zombie.runId))?.progress).toBe(null)
  })

  test('the step comes first: the reaper passes the run over while it is written', async () => {
    const { store, url } = await migratedPostgres()
    const owner = await claimed(store)
    await ask(url, 'UPDATE runs SET lease_expires_at = 1')
    const writing = await session(url)
    await writing.query('BEGIN')
    await writing.query(`UPDATE runs SET lease_expires_at = lease_expires_at + 9e12::bigint WHERE id = $1`, [owner.runId])
    expect(await store.runs.reap({ maxRecoveries: 3 })).toEqual([])
    await writing.query('ROLLBACK')
    expect(await store.runs.reap({ maxRecoveries: 3 })).toMatchObject([{ move: 'reclaim' }])
  })

  test('the control: a step that is inserted without the lock of its run is there after the takeover', async () => {
    const { store, url } = await migratedPostgres()
    const { runId } = await claimed(store)
    const zombie = await session(url)
    await zombie.query('BEGIN')
    await zombie.query(
      `INSERT INTO steps SELECT 'zombie', id, 'name', 0, 'failed', NULL, NULL, '', NULL, NULL, 1 FROM runs WHERE id = $1 AND lease_generation = 1`,
      [runId],
    )
    await ask(url, `UPDATE runs SET lease_generation = 2, lease_owner = 'next'`)
    await zombie.query('COMMIT')
    expect(await store.steps.list(runId)).toHaveLength(1)
  })
})

describe('a group of writes that waits for one of its runs', () => {
  const ACCEPTED = { ok: true, cancelRequested: false }

  /** Sends a step of three runs in one call, and lets it wait until the middle one has changed. */
  async function changedMeanwhile(change: string) {
    const { store, url } = await migratedPostgres()
    const owners = [await claimed(store), await claimed(store), await claimed(store)]
    const [, middle] = owners
    const changing = await session(url)
    await changing.query('BEGIN')
    await changing.query(`UPDATE runs SET ${change} WHERE id = $1`, [middle?.runId])
    const writes = owners.map((owner) => recordStep(owner, 1))
    const outcomes = store.runs.apply(writes)
    await untilOneWaits(url)
    await changing.query('COMMIT')
    return { store, outcomes: await outcomes, middle: middle?.runId ?? '', writes }
  }

  test('a takeover that comes first refuses that write, with all that is attached, and no other', async () => {
    const { store, outcomes, middle, writes } = await changedMeanwhile(`lease_generation = lease_generation + 1, lease_owner = 'next'`)
    expect(outcomes).toEqual([ACCEPTED, { ok: false }, ACCEPTED])
    expect(await store.steps.list(middle)).toEqual([])
    expect((await store.events.list(middle)).map(({ type }) => type)).toEqual(['run:trigger', 'run:start'])
    expect(await store.runs.get(middle)).toMatchObject({ currentStepIndex: 0, leaseWrites: 0, leaseOwner: 'next' })
    expect(await store.runs.apply(writes)).toEqual([ACCEPTED, { ok: false }, ACCEPTED])
  })

  test('what others may change is kept: a request to stop, and the event that came with it', async () => {
    const { store, outcomes, middle } = await changedMeanwhile('cancel_requested_at = 1, last_event_sequence = last_event_sequence + 1')
    expect(outcomes).toEqual([ACCEPTED, { ok: true, cancelRequested: true }, ACCEPTED])
    expect((await store.events.list(middle)).map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 run:trigger',
      '2 run:start',
      '4 step:start',
      '5 step:complete',
    ])
    expect(await store.runs.get(middle)).toMatchObject({ currentStepIndex: 1, leaseWrites: 1, lastEventSequence: 5 })
  })

  test('the same group sent again while the first one is under way is written once', async () => {
    const url = await temporaryDatabase()
    // Two that deadlock wait for each other until their queries time out, so the call below rejects.
    await ask(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '10min'`)
    const { store } = await migratedPostgres(url)
    const other = openStore(postgres(url))
    const owners = await Promise.all(Array.from({ length: 5 }, () => claimed(store)))
    for (let number = 1; number <= ROUNDS; number++) {
      const writes = owners.map((owner) => recordStep(owner, number))
      const sent = [store, other, store].map(({ runs }, i) => runs.apply(i === 1 ? writes.toReversed() : writes))
      expect((await Promise.all(sent)).flat(), `round ${number}`).toEqual(Array(15).fill(ACCEPTED))
    }
    for (const { runId } of owners) {
      expect(await store.steps.list(runId)).toHaveLength(ROUNDS)
      expect(await store.runs.get(runId)).toMatchObject({ currentStepIndex: ROUNDS, lastEventSequence: 2 + 2 * ROUNDS })
    }
  }, 60_000)
})

describe('a client and a worker', () => {
  test('a cancel that waited for a claim asks the running run to stop', async () => {
    const { store, url } = await migratedPostgres()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    const claim = await session(url)
    await claim.query('BEGIN')
    await claim.query(`UPDATE runs SET status = 'running', lease_owner = 'me', lease_expires_at = 9e12::bigint WHERE id = $1`, [run.id])
    const cancelled = store.runs.cancel(run.id)
    await untilOneWaits(url)
    await claim.query('COMMIT')
    expect((await cancelled)?.outcome).toBe('requested')
    expect((await store.runs.get(run.id))?.cancelRequestedAt).not.toBe(null)
  })

  test('a cancel that waited for the end of the run is refused, and returns how it ended', async () => {
    const { store, url } = await migratedPostgres()
    const { runId } = await claimed(store)
    const end = await session(url)
    await end.query('BEGIN')
    await end.query(`UPDATE runs SET status = 'completed', lease_owner = NULL, lease_expires_at = NULL WHERE id = $1`, [runId])
    const cancelled = store.runs.cancel(runId)
    await untilOneWaits(url)
    await end.query('COMMIT')
    expect(await cancelled).toMatchObject({ outcome: 'refused', run: { status: 'completed', cancelRequestedAt: null } })
  })

  test.each([
    { move: 'cancel', from: 'pending', outcome: 'cancelled' },
    { move: 'retry', from: 'failed', outcome: 'retried' },
  ] as const)('a $move that waited until the run was $from goes through', async ({ move, from, outcome }) => {
    const { store, url } = await migratedPostgres()
    const { runId } = await claimed(store)
    const owner = await session(url)
    await owner.query('BEGIN')
    await owner.query(`UPDATE runs SET status = $1, lease_owner = NULL, lease_expires_at = NULL WHERE id = $2`, [from, runId])
    const moved = store.runs[move](runId)
    await untilOneWaits(url)
    await owner.query('COMMIT')
    expect(await moved).toMatchObject({ outcome, run: { leaseOwner: null } })
  })

  test('a delete that waited for the last step takes that one along', async () => {
    const { store, url } = await migratedPostgres()
    const { runId } = await claimed(store)
    const end = await session(url)
    await end.query('BEGIN')
    await end.query(`UPDATE runs SET status = 'completed', lease_owner = NULL, lease_expires_at = NULL WHERE id = $1`, [runId])
    await end.query(`INSERT INTO steps VALUES ('last', $1, 'name', 0, 'completed', NULL, NULL, '', NULL, NULL, 1)`, [runId])
    const deleted = store.runs.delete(runId)
    await untilOneWaits(url)
    await end.query('COMMIT')
    expect((await deleted)?.outcome).toBe('deleted')
    expect(await ask(url, 'SELECT 1 FROM steps')).toEqual([])
  })

  test('a key that is stored while a trigger waits for it answers with that run', async () => {
    const { store, url } = await migratedPostgres()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    const first = await session(url)
    await first.query('BEGIN')
    await first.query(
      `INSERT INTO runs (id, job_name, status, idempotency_key, heartbeat_at, created_at, updated_at, run_at)
        SELECT 'first', job_name, status, 'k', heartbeat_at, created_at, updated_at, run_at FROM runs WHERE id = $1`,
      [run.id],
    )
    const second = store.runs.create([newRun({ idempotencyKey: 'k' }), newRun()])
    await untilOneWaits(url)
    await first.query('COMMIT')
    expect((await second).map(({ run, created }) => [run.id === 'first', created])).toEqual([
      [true, false],
      [false, true],
    ])
  })
})

test('two batches with the same keys in opposite order both succeed', async () => {
  const { store, url } = await migratedPostgres()
  const other = openStore(postgres(url))
  for (let round = 0; round < 10; round++) {
    const keys = Array.from({ length: 200 }, (_, i) => `${round}/${i}`)
    const [one, two] = await Promise.all([
      store.runs.create(keys.map((idempotencyKey) => newRun({ idempotencyKey }))),
      other.runs.create(keys.toReversed().map((idempotencyKey) => newRun({ idempotencyKey }))),
    ])
    expect(one.map(({ run }) => run.id)).toEqual(two.map(({ run }) => run.id).reverse())
  }
}, 60_000)

test.each(['repeatable read', 'serializable'])(
  'a database whose default is %s is no hindrance',
  async (level) => {
    const url = await temporaryDatabase()
    await ask(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = '${level}'`)
    const store = await migratedStore(postgres(url))
    await store.runs.create(Array.from({ length: CLAIMERS }, () => newRun()))
    expect(await winners(Array.from({ length: CLAIMERS }, () => store))).toHaveLength(CLAIMERS)
  },
  60_000,
)

/** Each with connections of its own, opened before the race. */
async function claimersOf(url: string): Promise<SqlStore[]> {
  const claimers = Array.from({ length: CLAIMERS }, () => openStore(postgres(url, { max: 2 })))
  await Promise.all(claimers.map((store) => store.runs.list({ limit: 1 })))
  return claimers
}

/** Claims of different jobs find different runs of one key. */
function jobOf(claimer: number): string[] {
  return [claimer % 2 ? 'job' : 'other']
}

async function winners(claimers: readonly SqlStore[], jobsOf: (claimer: number) => string[] = () => ['job', 'other']) {
  const claims = claimers.map((store, i) => store.runs.claim({ jobNames: jobsOf(i), tokens: [realEnv.id()], leaseMs: 60_000 }))
  return (await Promise.all(claims)).flat()
}

async function cancelAll({ runs }: SqlStore): Promise<void> {
  for (const { id, status, leaseGeneration: generation, leaseOwner } of await runs.list({})) {
    if (status === 'pending') await runs.cancel(id)
    if (leaseOwner !== null) {
      const rest = { events: [], logs: [], progress: null, streams: null, effects: null }
      await runs.apply([{ claim: { runId: id, generation, token: leaseOwner }, number: 1, ...rest, verb: { type: 'abandon' } }])
    }
    await runs.delete(id)
  }
}

async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function untilOneWaits(url: string): Promise<void> {
  const client = await session(url)
  for (let tries = 0; tries < 500; tries++) {
    const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('nobody waits for a lock')
}
