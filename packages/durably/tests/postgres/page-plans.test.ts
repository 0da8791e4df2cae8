// A page of steps or log lines costs what it returns, however many the run has before and after it.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { RowPage } from '../../src/store/row-page.ts'
import { groupedReads } from '../../src/store/sql/postgres/transport/grouped-reads.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { sqlLogs } from '../../src/store/sql/shared/logs.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { sqlSteps } from '../../src/store/sql/shared/steps.ts'
import { migratedPostgres } from './place.ts'
import { capturing, costOf, explain, rowsRead } from './plans.ts'

const ROWS = 20_000
/** The default of `jit_above_cost`. */
const JIT_ABOVE_COST = 100_000
const PAGES: RowPage[] = [{ limit: 100 }, { after: 'row 00000100', limit: 100 }, { after: 'row 00015000', limit: 100 }]
const CLAIM = { runId: 'long', generation: 1, token: 'token', parentRunId: null }

test('a page reads no more than its rows', { timeout: 60_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const [steps, logs] = [sqlSteps(deps), sqlLogs({ ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent })]
  for (const page of PAGES) {
    for (const read of [() => steps.list('long', page), () => steps.listOwned(CLAIM, page), () => logs.list('long', page)]) {
      await read()
      const nodes = await explain(store.db, sent.pop())
      // The row of the cursor is looked up twice, and that of the run once.
      expect(rowsRead(nodes), JSON.stringify(nodes.map((node) => [node['Node Type'], node['Actual Rows']]))).toBeLessThanOrEqual(110)
    }
  }
})

test('the pages of several logs that are read together read no more than their rows', { timeout: 60_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const { events, steps } = groupedReads(deps)
  const ids = ['long', ...Array.from({ length: 9 }, (_, i) => `short ${i}`)]
  // What is wanted is counted as rows, too.
  const reads: { read: (id: string) => Promise<unknown>; rows: number }[] = [
    { read: (id) => events.list(id, { after: 30, limit: 10 }), rows: 110 },
    { read: (id) => steps.find(id, ['row 00000100', 'row 00020001']), rows: 40 },
  ]
  for (const { read, rows } of reads) {
    await Promise.all(ids.map(read))
    const [query, ...others] = sent.splice(0)
    expect(others).toEqual([])
    const nodes = await explain(store.db, query)
    expect(rowsRead(nodes), JSON.stringify(nodes.map((node) => [node['Node Type'], node['Actual Rows']]))).toBeLessThanOrEqual(rows)
    expect(query && (await costOf(store.db, query))).toBeLessThan(JIT_ABOVE_COST)
  }
})

/** One long run among many short ones. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  const id = (i: string) => `'row ' || lpad(${i}::text, 8, '0')`
  const runOf = (i: string) => `CASE WHEN ${i} <= ${ROWS} THEN 'long' ELSE 'short ' || (${i} % 500) END`
  await run(`INSERT INTO runs (id, job_name, status, heartbeat_at, created_at, updated_at, run_at, lease_generation, lease_owner, lease_expires_at)
    SELECT 'short ' || i, 'job', 'pending', '', '', '', 0, 0, NULL, NULL::bigint FROM generate_series(0, 499) AS i
    UNION ALL SELECT 'long', 'job', 'running', '', '', '', 0, 1, 'token', 1`)
  await run(`INSERT INTO steps (id, run_id, name, "index", status, output, started_at, lease_generation)
    SELECT ${id('i')}, ${runOf('i')}, 'step ' || i, i, 'completed', 'output', '', 1 FROM generate_series(1, ${2 * ROWS}) AS i`)
  await run(`INSERT INTO logs (id, run_id, level, message, timestamp)
    SELECT ${id('i')}, ${runOf('i')}, 'info', 'line', '' FROM generate_series(1, ${2 * ROWS}) AS i`)
  await run(`INSERT INTO run_events (run_id, seq, event_type, payload, created_at)
    SELECT ${runOf('i')}, i, 'run:progress', '{}', '' FROM generate_series(1, ${2 * ROWS}) AS i`)
  await run('ANALYZE')
}
