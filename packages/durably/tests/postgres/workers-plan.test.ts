// A leader that assigns runs asks for the register in each round.
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import { sqlWorkers } from '../../src/store/sql/shared/workers.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const WORKERS = 50
const RUNNING = 1000
/** A run costs a row of the index and one of the table, a worker a few: of itself, and of what is assigned to it. */
const ROWS_PER_RUN = 3
const ROWS_PER_WORKER = 5

test('of the running runs each is read once, however many workers there are', async () => {
  const { store } = await migratedPostgres()
  const run = (sql: string) => store.db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO workers (id, token, labels, capacity, job_names, version, state, attached_at, heartbeat_at, expires_at)
    SELECT 'worker ' || i, 'token ' || i, '{}', 20, '["job"]', NULL, 'attached', 1, 1, 1 FROM generate_series(1, ${WORKERS}) AS i`)
  await run(`INSERT INTO runs (id, job_name, status, heartbeat_at, created_at, updated_at, run_at, lease_owner, lease_expires_at, worker_id)
    SELECT 'run ' || i, 'job', 'running', '', '', '', 1, 'token ' || i, 1, 'worker ' || (1 + i % ${WORKERS}) FROM generate_series(1, ${RUNNING}) AS i`)
  await run('ANALYZE')
  const { deps, sent } = capturing(store.db)
  const workers = sqlWorkers({ ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent })
  await workers.workers()
  const nodes = await explain(store.db, sent.pop())
  const read = nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Actual Loops']])
  expect(rowsRead(nodes), JSON.stringify(read)).toBeLessThanOrEqual(ROWS_PER_RUN * RUNNING + ROWS_PER_WORKER * WORKERS)
})
