// Postgres compiles a statement with its JIT where the plan looks expensive, which takes longer than any of our statements. Beside a large
// table that Postgres has statistics of, no verb that a worker sends all the time may look so expensive.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { Claim } from '../../src/store/owner-write.ts'
import { applyWrites } from '../../src/store/sql/postgres/apply.ts'
import { claimRuns } from '../../src/store/sql/postgres/claim.ts'
import { createRuns } from '../../src/store/sql/postgres/create.ts'
import { reapRuns } from '../../src/store/sql/postgres/reap.ts'
import type { SqlDeps } from '../../src/store/sql/shared/deps.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { probeRuns } from '../../src/store/sql/shared/probe.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { NO_ATTACHMENTS, newRun } from '../../src/testing/store-contract/world.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { recordStep } from '../sql/runs.ts'
import { migratedPostgres } from './place.ts'
import { capturing, costOf } from './plans.ts'

const ROWS = 200_000
/** The default of `jit_above_cost`. */
const JIT_ABOVE_COST = 100_000

const VERBS: Record<string, (deps: SqlDeps) => Promise<unknown>> = {
  probe: (deps) => probeRuns(deps)(['job', 'other']),
  'claim of one': (deps) => claimRuns(deps)({ jobNames: ['job', 'other'], tokens: ['token'], leaseMs: 30_000 }),
  'claim of 100': (deps) => claimRuns(deps)({ jobNames: ['job', 'other'], tokens: range(100).map(String), leaseMs: 30_000 }),
  'record 100 steps': (deps) => applyWrites(deps)(range(100).map((i) => recordStep(claimOf(i), 1))),
  'end 100 runs': (deps) =>
    applyWrites(deps)(
      range(100).map((i) => ({ claim: claimOf(i), number: 1, verb: { type: 'complete', output: null }, ...NO_ATTACHMENTS })),
    ),
  'create 100 runs': (deps) => createRuns(deps)(range(100).map((i) => newRun({ env: virtualEnv() }, { id: String(i) }))),
  'create 100 runs with keys': (deps) =>
    createRuns(deps)(range(100).map((i) => newRun({ env: virtualEnv() }, { id: String(i), idempotencyKey: String(i) }))),
  reap: (deps) => reapRuns({ ...deps, runRow, reader, jsonRows, chunked, logValues, awokenParent })({ maxRecoveries: 10 }),
}

test('no statement of a worker looks expensive enough for the JIT beside a large table', { timeout: 120_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  for (const [name, send] of Object.entries(VERBS)) {
    const { deps, sent } = capturing(store.db)
    // Without answers some verbs reject in the end; what they have sent is what counts.
    await send(deps).catch(() => {})
    expect(sent, name).not.toEqual([])
    for (const query of sent) expect(await costOf(store.db, query), name).toBeLessThan(JIT_ABOVE_COST)
  }
})

function claimOf(i: number): Claim {
  return { runId: `run ${i}`, generation: 1, token: `token ${i}` }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

/** One in twenty is pending. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO runs (id, job_name, status, heartbeat_at, created_at, updated_at, run_at, finished_at, last_event_sequence)
    SELECT 'id ' || lpad(i::text, 8, '0'), 'job', CASE WHEN i % 20 = 0 THEN 'pending' ELSE 'completed' END, '', '', '', i, CASE WHEN i % 20 > 0 THEN i END, 4 FROM generate_series(1, ${ROWS}) AS i`)
  await run('ANALYZE')
}
