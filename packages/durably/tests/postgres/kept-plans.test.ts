// A connection keeps the plan of a statement while the tables grow, until they are analysed again. So what a worker sends all the time must
// look its rows up one by one, also by a plan that was made when the tables were empty.
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Claim, OwnerWrite } from '../../src/store/owner-write.ts'
import { applyWrites } from '../../src/store/sql/postgres/apply.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { NO_ATTACHMENTS } from '../../src/testing/store-contract/world.ts'
import { recordStep } from '../sql/runs.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const GROUP = 10
const ROWS = 20_000
/** Its run when it is locked and when it is updated, and what is asked of them beside. */
const ROWS_PER_WRITE = 5

const WRITES: Record<string, (claim: Claim) => OwnerWrite> = {
  'record steps': (claim) => recordStep(claim, 1),
  'end runs': (claim) => ({ claim, number: 1, verb: { type: 'complete', output: null }, ...NO_ATTACHMENTS }),
}

const STEP_COLUMNS = sql`steps (id, run_id, name, index, status, output, error, failure, started_at, completed_at, lease_generation)`

const CASES = Object.entries(WRITES).flatMap(([verb, write]) => [1, GROUP].map((size) => ({ verb, write, size })))

test.each(CASES)(
  'a plan to $verb, $size at once, that was made for empty tables reads no more when they have grown',
  async ({ write, size }) => {
    const { store } = await migratedPostgres()
    const { deps, sent } = capturing(store.db)
    const writes = Array.from({ length: size }, (_, i) => write({ runId: `run ${i}`, generation: 1, token: `token ${i}` }))
    await applyWrites({ ...deps, eventLog: true, into: { ...deps.into, steps: STEP_COLUMNS } })(writes)
    const [query] = sent
    await store.db.connection().execute(async (db) => {
      const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
      await run('SET plan_cache_mode = force_generic_plan')
      await run(`PREPARE kept AS ${query?.sql}`)
      const execute = `EXECUTE kept (${query?.parameters.map(literal).join(', ')})`
      await run(execute)
      await fill(db)
      const nodes = await explain(db, CompiledQuery.raw(execute))
      const read = nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Rows Removed by Filter']])
      expect(rowsRead(nodes), JSON.stringify(read)).toBeLessThanOrEqual(ROWS_PER_WRITE * size)
      const { rows } = await run("SELECT id FROM runs WHERE id LIKE 'run %' AND lease_writes = 1")
      expect(rows).toHaveLength(size)
    })
  },
)

/** The runs of the writes, and many that have ended, each with a step. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  const columns = 'id, job_name, status, heartbeat_at, created_at, updated_at, run_at, last_event_sequence'
  await run(`INSERT INTO runs (${columns}, lease_owner, lease_generation, lease_expires_at)
    SELECT 'run ' || i, 'job', 'running', '', '', '', i, 0, 'token ' || i, 1, 1 FROM generate_series(0, ${GROUP - 1}) AS i`)
  await run(
    `INSERT INTO runs (${columns}, finished_at) SELECT 'ended ' || i, 'job', 'completed', '', '', '', i, 0, i FROM generate_series(1, ${ROWS}) AS i`,
  )
  await run(`INSERT INTO steps (id, run_id, name, index, status, started_at, lease_generation)
    SELECT 'of ended ' || i, 'ended ' || i, 'step', 0, 'completed', '', 1 FROM generate_series(1, ${ROWS}) AS i`)
}

/** As a text whose type Postgres takes from the parameter. */
function literal(value: unknown): string {
  if (value === null) return 'NULL'
  const text = Array.isArray(value) ? `{${value.map((element) => (element === null ? 'NULL' : JSON.stringify(element)))}}` : String(value)
  return `'${text.replaceAll("'", "''")}'`
}
