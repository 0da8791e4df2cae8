// A leader finds, assigns and orphans runs by an index, and a worker claims by one, however many runs wait or have ended.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { assignRuns } from '../../src/store/sql/postgres/assign.ts'
import { claims } from '../../src/store/sql/postgres/claim.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ROWS = 100_000
const PAGE = 20
/** Of all workers together: that is bounded by their capacity, not by how many runs there are. */
const ASSIGNED = 200
/** They are left to another worker for a short time, so there are never many. */
const PREFERRING = 100
/** Each run that is looked at costs a few rows: of the run itself, its index, its worker. */
const ROWS_PER_RUN = 5

test('none of 100,000 runs is read that nobody assigns', { timeout: 120_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const { findUnassigned, assign, orphan, claimAssigned, claimOpen } = assignRuns(
    { ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent },
    claims,
  )
  const assignments = Array.from({ length: PAGE }, (_, i) => ({ runId: idOf(ROWS - i), version: 0, workerId: 'worker 1' }))
  const tokens = Array.from({ length: PAGE }, (_, i) => `token ${i}`)
  const acts: [act: () => Promise<unknown>, runsMax: number][] = [
    [() => findUnassigned({ jobNames: ['job', 'other', 'none'], limit: PAGE }), 3 * PAGE + ASSIGNED],
    [() => assign({ epoch: 1, assignments }), PAGE],
    [() => orphan({ epoch: 1, reassignAfterMs: 30_000 }), ASSIGNED + PAGE],
    [() => claimAssigned({ jobNames: ['job', 'other'], tokens, leaseMs: 1000, workerId: 'worker 1' }), 2 * ASSIGNED],
    // It goes past the runs that others are preferred for.
    [
      () => claimOpen({ jobNames: ['job', 'other', 'chat'], tokens, leaseMs: 1000, workerId: 'worker 3', preferMs: 600_000 }),
      3 * PAGE + PREFERRING,
    ],
  ]
  for (const [act, runsMax] of acts) {
    await act()
    expect(sent.length).toBeGreaterThan(0)
    for (const query of sent.splice(0)) {
      const nodes = await explain(store.db, query)
      const read = nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Rows Removed by Filter']])
      expect(rowsRead(nodes), `${query.sql} ${JSON.stringify(read)}`).toBeLessThanOrEqual(ROWS_PER_RUN * runsMax)
    }
  }
})

const idOf = (i: number) => `run ${String(i).padStart(8, '0')}`

/** Half of the runs have ended, and of the others, which all are due, the first are assigned: to a worker that is there, or to one that is silent. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
  const isAssigned = `i % 2 = 0 AND i <= ${2 * ASSIGNED}`
  await run(`INSERT INTO leaders VALUES ('leader', 1, 'w', 't', 0, 0)`)
  await run(`INSERT INTO workers (id, token, state, labels, capacity, job_names, version, attached_at, heartbeat_at, expires_at)
    VALUES ('worker 1', 't1', 'attached', '{}', 100, '["job"]', NULL, 0, 0, ${now} + 1000000), ('worker 2', 't2', 'attached', '{}', 100, '["job"]', NULL, 0, 0, 1)`)
  await run(`INSERT INTO runs (id, job_name, payload, status, heartbeat_at, created_at, updated_at, run_at, concurrency_key, assigned_worker_id, assigned_at, assign_count)
    SELECT 'run ' || lpad(i::text, 8, '0'), CASE WHEN i % 3 = 0 THEN 'other' ELSE 'job' END, 'null', CASE WHEN i % 2 = 0 THEN 'pending' ELSE 'completed' END,
      '', '', '', i, CASE WHEN i % 5 = 0 THEN 'key ' || i END,
      CASE WHEN ${isAssigned} THEN 'worker ' || (1 + i / 2 % 2) END, CASE WHEN ${isAssigned} THEN 1 END, 0 FROM generate_series(1, ${ROWS}) AS i`)
  await run(`INSERT INTO runs (id, job_name, payload, status, heartbeat_at, created_at, updated_at, run_at, concurrency_key, prefer_worker_id)
    SELECT 'talk ' || lpad(i::text, 8, '0'), 'chat', 'null', 'pending', '', '', '', ${now} - 1000 + i, CASE WHEN i % 2 = 0 THEN 'session ' || (i % 20) END,
      CASE WHEN i <= ${PREFERRING} THEN 'worker 1' END FROM generate_series(1, ${2 * PREFERRING}) AS i`)
  await run('ANALYZE runs')
  await run('ANALYZE workers')
}
