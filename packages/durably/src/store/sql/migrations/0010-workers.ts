import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** Every index of runs is partial: a run that no leader assigns is in none of them. */
export const workers: Migration = ({ tables: t, syntax: { bigint, key } }) => [
  ...[
    sql`worker_id TEXT`,
    sql`confirm_ms ${bigint}`,
    sql`continuation_state TEXT`,
    sql`continuation_check_deadline_at ${bigint}`,
    sql`assigned_worker_id ${key}`,
    sql`assigned_at ${bigint}`,
    sql`assign_count INTEGER NOT NULL DEFAULT 0`,
    sql`leader_epoch ${bigint}`,
  ].map((column) => sql`ALTER TABLE ${t.runs} ADD COLUMN ${column}`),
  sql`CREATE INDEX ${t.index('runs_assigned')} ON ${t.runs} (assigned_worker_id, status, run_at, id) WHERE assigned_worker_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_assigned_key')} ON ${t.runs} (concurrency_key) WHERE assigned_worker_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_in_round')} ON ${t.runs} (id) WHERE assigned_at IS NOT NULL`,
  sql`CREATE TABLE ${t.workers} (
      id ${key} PRIMARY KEY NOT NULL,
      token ${key} NOT NULL,
      labels TEXT NOT NULL,
      capacity INTEGER NOT NULL,
      job_names TEXT NOT NULL,
      version TEXT,
      state TEXT NOT NULL,
      attached_at ${bigint} NOT NULL,
      heartbeat_at ${bigint} NOT NULL,
      expires_at ${bigint} NOT NULL
    )`,
]
