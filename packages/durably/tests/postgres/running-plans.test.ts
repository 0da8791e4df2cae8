// Running runs have no index of their own (ADR 0033). Probes and reaps read them, and none of those that have ended.
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { reapRuns } from '../../src/store/sql/postgres/reap.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { probeRuns } from '../../src/store/sql/shared/probe.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ENDED = 20_000
const RUNNING = 20
/** For each of them: itself, in the index and in the table, when it is found and when it is changed. */
const ROWS_PER_RUN = 4

const COLUMNS = 'id, job_name, status, heartbeat_at, created_at, updated_at, run_at'

test.each(['before', 'after'])('of 20,000 runs only those are read that are running, %s the table was analysed', async (when) => {
  const { store } = await migratedPostgres()
  const run = (sql: string) => store.db.executeQuery(CompiledQuery.raw(sql))
  await run(
    `INSERT INTO runs (${COLUMNS}, finished_at) SELECT 'ended ' || i, 'job', 'completed', '', '', '', i, i FROM generate_series(1, ${ENDED}) AS i`,
  )
  await run(`INSERT INTO runs (${COLUMNS}, lease_owner, lease_expires_at)
    SELECT 'running ' || i, 'job', 'running', '', '', '', i, 'token ' || i, 1 FROM generate_series(1, ${RUNNING}) AS i`)
  if (when === 'after') await run('ANALYZE')
  const { deps, sent } = capturing(store.db)
  await probeRuns(deps)(['job'])
  await reapRuns({ ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent })({ maxRecoveries: 3 })
  expect(sent).toHaveLength(2)
  for (const query of sent) {
    const nodes = await explain(store.db, query)
    const read = nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Rows Removed by Filter']])
    expect(rowsRead(nodes), JSON.stringify(read)).toBeLessThanOrEqual(ROWS_PER_RUN * RUNNING)
  }
  const { rows } = await run(`SELECT id FROM runs WHERE status = 'running'`)
  expect(rows).toEqual([])
})
