import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * Lists go by id, so each index by which runs are found ends with it. A run without keys and without a parent is in one tree less than
 * before: the indexes of keys hold only runs that have one.
 */
export const findRuns: Migration = ({ tables: t }) => [
  sql`CREATE INDEX ${t.index('runs_status')} ON ${t.runs} (status, id)`,
  sql`CREATE INDEX ${t.index('runs_job')} ON ${t.runs} (job_name, status, id)`,
  sql`CREATE UNIQUE INDEX ${t.index('runs_idempotent')} ON ${t.runs} (idempotency_key, job_name) WHERE idempotency_key IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_concurrency')} ON ${t.runs} (concurrency_key, id) WHERE concurrency_key IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_parent')} ON ${t.runs} (parent_run_id, id) WHERE parent_run_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('logs_line')} ON ${t.logs} (run_id, id)`,
  ...['runs_idempotency_key', 'runs_status_concurrency_key', 'runs_status_created_at', 'logs_timestamp'].map(
    (name) => sql`DROP INDEX ${t.oldIndex(name)}`,
  ),
]
