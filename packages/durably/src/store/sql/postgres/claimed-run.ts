// What a claim answers of a run. Of fifty columns most have nothing in most runs, and each costs time in the server and in the driver: those
// are one column together, which is empty as long as they are as a new run has them.
import { type RawBuilder, sql } from 'kysely'
import type { RunRow } from '../../../model/run.ts'
import { RUN_COLUMNS, runReadBy } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'

/** What a claim writes, and what every run has. */
const COMMON: ReadonlySet<string> = new Set([
  'id',
  'job_name',
  'payload',
  'status',
  'created_at',
  'heartbeat_at',
  'updated_at',
  'version',
  'run_at',
  'lease_generation',
  'lease_owner',
  'lease_expires_at',
  'lease_writes',
  'started_at',
  'last_event_sequence',
  'worker_id',
  'confirm_ms',
  // For the events of the claim.
  'streams',
])
/** These begin at 0, and all other rare columns are NULL. */
const COUNTS: readonly string[] = ['current_step_index', 'recoveries', 'attempts', 'retry_generation', 'signals', 'assign_count']

const RARE = RUN_COLUMNS.filter((column) => !COMMON.has(column))
const NOTHING_RARE = RARE.map((column) => (COUNTS.includes(column) ? 0 : null))
const places = new Map(RARE.map((column, place) => [column, place]))

const columnsOf = (names: Iterable<string>) => sql.join([...names].map((name) => sql`r.${sql.id(name)}`))
const nullable = columnsOf(RARE.filter((column) => !COUNTS.includes(column)))
const counts = sql.join(
  COUNTS.map((column) => sql`r.${sql.id(column)} = 0`),
  sql` AND `,
)

/** The columns of the run `r` for `claimedRun`. */
export const CLAIMED_RUN: RawBuilder<unknown> = sql`${columnsOf(COMMON)},
  CASE WHEN NOT (num_nonnulls(${nullable}) = 0 AND ${counts}) THEN json_build_array(${columnsOf(RARE)})::text END AS rare`

export function claimedRun(row: Row): RunRow {
  const rare: readonly unknown[] = typeof row.rare === 'string' ? JSON.parse(row.rare) : NOTHING_RARE
  return runReadBy(row.id, (column) => {
    const place = places.get(column)
    return place === undefined ? row[column] : rare[place]
  })
}
