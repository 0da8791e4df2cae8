// What Postgres does for each list of runs among many, with its own statistics and all of its methods allowed.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { RunQuery } from '../../src/store/runs.ts'
import { postgresSyntax } from '../../src/store/sql/postgres/syntax.ts'
import { listRuns } from '../../src/store/sql/shared/list-runs.ts'
import { type DurablyTables, tablesOf } from '../../src/store/sql/shared/schema.ts'
import { QUERIES } from '../sql/list-queries.ts'
import { migratedPostgres } from './place.ts'

const ROWS = 40_000

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

test('no list of runs scans or sorts what grows', { timeout: 60_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  for (const query of QUERIES) {
    const nodes = await explain(store.db, query)
    const what = JSON.stringify({ query, nodes: nodes.map((node) => [node['Node Type'], node['Actual Rows']]) })
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan'),
      what,
    ).toEqual([])
    expect(read(nodes), what).toBeLessThanOrEqual(boundOf(query))
  }
})

/** How many rows of tables and indexes it looked at. */
function read(nodes: readonly Plan[]): number {
  const scans = nodes.filter((node) => /Scan$/.test(node['Node Type']) && !/Subquery|CTE/.test(node['Node Type']))
  return scans.reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0)
}

/** Full pages of each pair of job and status; where conditions are asked of each row, what the leading one fits. */
function boundOf(query: RunQuery): number {
  const { limit = 0, statuses, jobNames, phases, concurrencyKey, idempotencyKey, parentRunId, labels } = query
  // The rows of each label, in its index and in its table, and those of the runs; of a rare label all of them.
  if (labels) return (1 + 2 * Object.keys(labels).length) * (concurrencyKey || Object.values(labels).some(isRare) ? 100 : 2 * limit)
  if (phases && !jobNames) return ROWS / 20 + limit
  if (concurrencyKey ?? idempotencyKey ?? parentRunId) return 200
  const ofFinished = 5 * limit
  return Math.max(limit * (jobNames?.length ?? 1) * (statuses?.length ?? 5), ofFinished)
}

/** Of runs that a hundred have at most. */
const isRare = (value: string) => value !== 'many'

/** Nine in ten have completed; the others are pending, most of them asleep, or have failed. Ids are in the order of creation. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO runs (id, job_name, status, heartbeat_at, created_at, updated_at, run_at, finished_at, concurrency_key, idempotency_key, parent_run_id, parent_step)
    SELECT 'id ' || lpad(i::text, 8, '0'), CASE i % 3 WHEN 0 THEN 'job' WHEN 1 THEN 'other' ELSE 'third' END, status, '', '', '',
      CASE WHEN i % 2 = 0 THEN 9000000000000 ELSE 0 END, CASE WHEN status = 'pending' THEN NULL ELSE i END,
      CASE WHEN i % 10 = 7 THEN 'key ' || (i % 400) END, CASE WHEN i % 10 = 3 THEN 'once ' || i END,
      CASE WHEN i % 500 = 0 THEN 'parent' WHEN i % 500 < 5 THEN 'parent ' || (i / 500) END, i::text
    FROM (SELECT i, CASE WHEN i % 20 = 0 THEN 'failed' WHEN i % 20 = 1 THEN 'pending' ELSE 'completed' END AS status FROM generate_series(1, ${ROWS}) AS i) AS made`)
  await run(`INSERT INTO run_labels (name, value, run_id)
    SELECT 'tenant', CASE WHEN rowNumber % 2 = 0 THEN 'many' ELSE 'tenant ' || (rowNumber % 400) END, id FROM (SELECT id, row_number() OVER (ORDER BY id) AS rowNumber FROM runs) AS made
    UNION ALL SELECT 'kind', 'many', id FROM runs
    UNION ALL SELECT 'rare', 'yes', id FROM runs WHERE right(id, 3) = '444'`)
  await run('ANALYZE')
}

async function explain(db: Kysely<DurablyTables>, query: RunQuery): Promise<Plan[]> {
  const list = listRuns({ tables: tablesOf(''), syntax: postgresSyntax('database') }, query, 0)?.compile(db)
  const { rows } = await db.executeQuery(CompiledQuery.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${list?.sql}`, [...(list?.parameters ?? [])]))
  const [
    {
      'QUERY PLAN': [top],
    } = { 'QUERY PLAN': [] },
  ] = rows as { 'QUERY PLAN': { Plan: Plan }[] }[]
  return top ? all(top.Plan) : []
}

function all(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(all)]
}
