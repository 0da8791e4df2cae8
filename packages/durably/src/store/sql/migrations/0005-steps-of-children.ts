import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * A child is known by the step that triggered it. Until now it was known by an idempotency key made of both, which any caller could
 * have taken first. The new index serves what `runs_parent` did.
 */
export const stepsOfChildren: Migration = ({ tables: t, syntax: { key } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN parent_step ${key}`,
  sql`UPDATE ${t.runs} SET parent_step = substr(idempotency_key, length(parent_run_id) + 2), idempotency_key = NULL
    WHERE parent_run_id IS NOT NULL AND substr(idempotency_key, 1, length(parent_run_id) + 1) = parent_run_id || '/'`,
  sql`CREATE UNIQUE INDEX ${t.index('runs_parent_step')} ON ${t.runs} (parent_run_id, parent_step) WHERE parent_run_id IS NOT NULL`,
  sql`DROP INDEX ${t.oldIndex('runs_parent')}`,
]
