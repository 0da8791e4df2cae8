import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** The index finds runs that others of the same key must not overtake; a run that prefers no worker is not in it. */
export const preferredWorkers: Migration = ({ tables: t, syntax: { key } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN prefer_worker_id ${key}`,
  sql`CREATE INDEX ${t.index('runs_preferring')} ON ${t.runs} (concurrency_key, run_at, id) WHERE status = 'pending' AND prefer_worker_id IS NOT NULL`,
]
