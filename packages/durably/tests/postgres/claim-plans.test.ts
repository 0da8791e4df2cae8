// What a claim reads, row by row: it must not look anything up for each run that waits for a key, nor read the runs that others execute.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { claimRuns } from '../../src/store/sql/postgres/claim.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, type Plan, rowsRead } from './plans.ts'

const BLOCKED = 5000
const RUNNING = 3000
/** For its own tokens, its candidates and the keys that are known beforehand. */
const ROWS_PER_CLAIM = 50
const KNOWN_KEYS = 1000

test('a claim reads each run that waits for a taken key once, and nothing else for it', async () => {
  const { store } = await migratedPostgres()
  await fill(store.db, 1, `'taken'`)
  await pend(store.db, BLOCKED, `'taken'`)
  await pend(store.db, 1, 'NULL')
  const nodes = await claimOne(store.db)
  expect(rowsRead(nodes), said(nodes)).toBeLessThanOrEqual(BLOCKED + ROWS_PER_CLAIM)
})

test('of many running runs with keys a claim reads a limited number', async () => {
  const { store } = await migratedPostgres()
  await fill(store.db, RUNNING, `'running ' || i`)
  await pend(store.db, RUNNING, `'free ' || i`)
  const nodes = await claimOne(store.db)
  expect(rowsRead(nodes), said(nodes)).toBeLessThanOrEqual(KNOWN_KEYS + ROWS_PER_CLAIM)
})

async function claimOne(db: Kysely<DurablyTables>): Promise<Plan[]> {
  await db.executeQuery(CompiledQuery.raw('ANALYZE'))
  const { deps, sent } = capturing(db)
  await claimRuns({ ...deps, eventLog: true })({ jobNames: ['job'], tokens: ['mine'], leaseMs: 1000 })
  const nodes = await explain(db, sent[0])
  const { rows } = await db.executeQuery(CompiledQuery.raw("SELECT id FROM runs WHERE lease_owner = 'mine'"))
  expect(rows).toHaveLength(1)
  return nodes
}

const COLUMNS = 'id, job_name, status, heartbeat_at, created_at, updated_at, run_at, last_event_sequence, concurrency_key'

async function fill(db: Kysely<DurablyTables>, count: number, key: string): Promise<void> {
  await db.executeQuery(
    CompiledQuery.raw(`INSERT INTO runs (${COLUMNS}, lease_owner, lease_generation, lease_expires_at)
      SELECT 'running ' || i, 'job', 'running', '', '', '', i, 0, ${key}, 'token ' || i, 1, 1 FROM generate_series(1, ${count}) AS i`),
  )
}

async function pend(db: Kysely<DurablyTables>, count: number, key: string): Promise<void> {
  await db.executeQuery(
    CompiledQuery.raw(`INSERT INTO runs (${COLUMNS})
      SELECT 'pending ' || ${key === 'NULL' ? "'without a key'" : 'i'}, 'job', 'pending', '', '', '', i, 0, ${key} FROM generate_series(1, ${count}) AS i`),
  )
}

function said(nodes: readonly Plan[]): string {
  return JSON.stringify(nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Actual Loops'], node['Rows Removed by Filter']]))
}
