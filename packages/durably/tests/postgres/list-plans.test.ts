// What Postgres does for each list of runs among many, with its own statistics and all of its methods allowed.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { RunQuery } from '../../src/store/runs.ts'
import { postgresSyntax } from '../../src/store/sql/postgres/syntax.ts'
import { dueJobs } from '../../src/store/sql/shared/due-jobs.ts'
import { listRuns } from '../../src/store/sql/shared/list-runs.ts'
import { runRow } from '../../src/store/sql/shared/rows.ts'
import { type DurablyTables, tablesOf } from '../../src/store/sql/shared/schema.ts'
import { waitedFor } from '../../src/store/sql/shared/waited-for.ts'
import { QUERIES } from '../sql/list-queries.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ROWS = 100_000
/** So many runs have one key, one tenant or one parent. */
const FEW = 100

test('no list of runs scans or sorts what grows, nor does the search for jobs with due runs, or for the run that has a key', {
  timeout: 120_000,
}, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  for (const query of QUERIES) {
    const nodes = await explain(
      store.db,
      listRuns({ tables: tablesOf(''), syntax: postgresSyntax('database') }, query, 0)?.compile(store.db),
    )
    const what = JSON.stringify({ query, nodes: nodes.map((node) => [node['Node Type'], node['Actual Rows']]) })
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan'),
      what,
    ).toEqual([])
    expect(rowsRead(nodes), what).toBeLessThanOrEqual(boundOf(query))
  }
  const { deps, sent } = capturing(store.db)
  await dueJobs(deps)({ waitedMs: 5000, except: ['job'], limit: 20 })
  const nodes = await explain(store.db, sent.pop())
  // The first pending run of each of three jobs, in its index and in its table, and what is known.
  expect(rowsRead(nodes), JSON.stringify(nodes.map((node) => [node['Node Type'], node['Actual Rows']]))).toBeLessThanOrEqual(20)
  // A hundred runs have this key.
  await waitedFor({ ...deps, runRow }).getHolder('key 7')
  expect(rowsRead(await explain(store.db, sent.pop()))).toBeLessThanOrEqual(1)
})

/** Full pages of each pair of job and status; where conditions are asked of each row, what the leading one fits. */
function boundOf(query: RunQuery): number {
  const { limit = 0, statuses, jobNames, phases, concurrencyKey, idempotencyKey, parentRunId, scheduleId, labels } = query
  // The rows of each label, in its index and in its table, and those of the runs; of a rare label all of them.
  if (labels) return (1 + 2 * Object.keys(labels).length) * (concurrencyKey || Object.values(labels).some(isRare) ? 100 : 2 * limit)
  // None of these runs is assigned.
  if (phases?.every((phase) => phase === 'assigned' || phase === 'orphaned')) return 0
  if (phases && !jobNames) return ROWS / 20 + limit
  if (concurrencyKey ?? idempotencyKey ?? parentRunId ?? scheduleId) return 2 * FEW
  const ofFinished = 5 * limit
  return Math.max(limit * (jobNames?.length ?? 1) * (statuses?.length ?? 5), ofFinished)
}

/** Of runs that a hundred have at most. */
const isRare = (value: string) => value !== 'many'

/** Nine in ten have completed; the others are pending, most of them asleep, or have failed. Ids are in the order of creation. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO runs (id, job_name, status, heartbeat_at, created_at, updated_at, run_at, finished_at, concurrency_key, idempotency_key, schedule_id, scheduled_for, parent_run_id, parent_step)
    SELECT 'id ' || lpad(i::text, 8, '0'), CASE i % 3 WHEN 0 THEN 'job' WHEN 1 THEN 'other' ELSE 'third' END, status, '', '', '',
      CASE WHEN i % 2 = 0 THEN 9000000000000 ELSE 0 END, CASE WHEN status = 'pending' THEN NULL ELSE i END,
      CASE WHEN i % 10 = 7 THEN 'key ' || (i % ${ROWS / FEW}) END, CASE WHEN i % 10 = 3 THEN 'once ' || i END,
      CASE WHEN i % 10 = 7 THEN 'schedule ' || (i % ${ROWS / FEW}) END, i,
      CASE WHEN i % ${ROWS / FEW} = 0 THEN 'parent' WHEN i % ${ROWS / FEW} < 5 THEN 'parent ' || (i / ${ROWS / FEW}) END, i::text
    FROM (SELECT i, CASE WHEN i % 20 = 0 THEN 'failed' WHEN i % 20 = 1 THEN 'pending' ELSE 'completed' END AS status FROM generate_series(1, ${ROWS}) AS i) AS made`)
  await run(`INSERT INTO run_labels (name, value, run_id)
    SELECT 'tenant', CASE WHEN rowNumber % 2 = 0 THEN 'many' ELSE 'tenant ' || (rowNumber % ${ROWS / FEW}) END, id FROM (SELECT id, row_number() OVER (ORDER BY id) AS rowNumber FROM runs) AS made
    UNION ALL SELECT 'kind', 'many', id FROM runs
    UNION ALL SELECT 'rare', 'yes', id FROM runs WHERE right(id, 3) = '444'`)
  await run('ANALYZE')
}
