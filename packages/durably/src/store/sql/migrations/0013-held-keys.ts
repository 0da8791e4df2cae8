import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * A run may hold its key while it is pending, so the unique index has such runs as well. It keeps its name, because the code of other versions
 * recognizes a lost race by it. A run without `hold_key` is in it exactly when it was before.
 */
export const heldKeys: Migration = ({ tables: t }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN hold_key INTEGER`,
  sql`DROP INDEX ${t.oldIndex('runs_running_key')}`,
  sql`CREATE UNIQUE INDEX ${t.index('runs_running_key')} ON ${t.runs} (concurrency_key)
    WHERE (status = 'running' OR status = 'pending' AND hold_key = 1 AND lease_generation > retry_generation) AND concurrency_key IS NOT NULL`,
]
