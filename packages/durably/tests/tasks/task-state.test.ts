// `taskState` and what a database counts must mean the same: any run, at any time, on every store.
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { RUN_STATUSES, type RunStatus } from '../../src/model/run.ts'
import { encodeWaits, type Wait } from '../../src/model/wait.ts'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { createTaskQueue, TASK_STATES, type TaskState, taskState } from '../../src/tasks/index.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { migratedStore, temporaryFile } from '../sql/place.ts'

interface Facts {
  status: RunStatus
  attempts: number
  /** Before or after now, in ms. */
  dueIn: number
  leaseIn: number
  cancelAsked: boolean
  kind: Wait['kind'] | null
}

const facts = (times: fc.Arbitrary<number>): fc.Arbitrary<Facts> =>
  fc.record({
    status: fc.constantFrom(...RUN_STATUSES),
    attempts: fc.nat({ max: 2 }),
    dueIn: times,
    leaseIn: times,
    cancelAsked: fc.boolean(),
    kind: fc.constantFrom<Wait['kind'] | null>(null, 'sleep', 'retry', 'signal', 'child'),
  })

async function fill(store: SqlStore, nowMs: number, all: readonly Facts[]): Promise<void> {
  const runs = sql.table('runs')
  await sql`DELETE FROM ${runs}`.execute(store.db)
  const iso = new Date(nowMs).toISOString()
  for (const [n, { status, attempts, dueIn, leaseIn, cancelAsked, kind }] of all.entries()) {
    const id = `run ${n}`
    const nothing = {
      idempotencyKey: null,
      concurrencyKey: null,
      holdKey: false,
      labels: null,
      payload: 'null',
      deadlineMs: null,
      deadlineAt: null,
      parentRunId: null,
      parentStep: null,
      parentToken: null,
      delayMs: null,
    }
    await store.runs.create([{ ...nothing, id, jobName: 'task', createdAt: iso, runAt: nowMs + dueIn }])
    const isRunning = status === 'running'
    const waits = kind === null ? null : encodeWaits([{ name: 'wait', kind, dueAt: nowMs + dueIn }])
    await sql`UPDATE ${runs} SET status = ${status}, attempts = ${attempts}, waiting_for = ${waits},
      lease_owner = ${isRunning ? id : null}, lease_expires_at = ${isRunning ? nowMs + leaseIn : null},
      cancel_requested_at = ${cancelAsked ? nowMs : null} WHERE id = ${id}`.execute(store.db)
  }
}

async function agree(store: SqlStore, env: ReturnType<typeof virtualEnv>, all: readonly Facts[]): Promise<void> {
  await fill(store, env.wall(), all)
  const queue = createTaskQueue({ store, env })
  const expected = Object.fromEntries(TASK_STATES.map((state) => [state, 0])) as Record<TaskState, number>
  for (const { status, attempts, dueIn } of all)
    expected[taskState({ status, attempts, runAt: new Date(env.wall() + dueIn).toISOString() }, env.wall())]++
  expect(await queue.countsByState()).toEqual(expected)
  for (const state of TASK_STATES) expect((await queue.list({ state, limit: 1000 })).tasks).toHaveLength(expected[state])
}

describe('taskState agrees with the counts of the database', () => {
  test('on SQLite, to the millisecond', async () => {
    const env = virtualEnv()
    const store = await migratedStore(sqlite(temporaryFile(), { durability: 'relaxed' }), { env })
    const times = fc.constantFrom(-60_000, -1, 0, 1, 60_000)
    await fc.assert(
      fc.asyncProperty(fc.array(facts(times), { maxLength: 12 }), (all) => agree(store, env, all)),
      { numRuns: 60 },
    )
  })

  test('on Postgres', async () => {
    const env = virtualEnv({ startMs: Date.now() })
    const store = await migratedStore(postgres(await temporaryDatabase()))
    const times = fc.constantFrom(-3_600_000, 3_600_000)
    await fc.assert(
      fc.asyncProperty(fc.array(facts(times), { maxLength: 12 }), (all) => agree(store, env, all)),
      { numRuns: 15 },
    )
  }, 60_000)
})

test('each state of the table', () => {
  const now = Date.UTC(2025, 0, 1)
  const of = (status: RunStatus, attempts = 0, dueIn = 0) =>
    taskState({ status, attempts, runAt: new Date(now + dueIn).toISOString() }, now)
  expect(of('pending')).toBe('Queued')
  expect(of('pending', 0, 1000)).toBe('Queued')
  expect(of('pending', 1, 1)).toBe('RetryScheduled')
  expect(of('pending', 1, 0)).toBe('Queued')
  expect(of('running', 1, 1000)).toBe('Running')
  expect(of('completed', 1)).toBe('Succeeded')
  expect(of('failed', 5, 1000)).toBe('Dead')
  expect(of('cancelled', 1, 1000)).toBe('Cancelled')
})
