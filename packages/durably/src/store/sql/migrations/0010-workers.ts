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
]
