import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * With its key in the index, a run whose key is taken is passed over without being read (ADR 0029). The index keeps its name, because the code of
 * other versions asks for it by that, and its order, which is all that they need.
 */
export const keysInTheOrderOfClaims: Migration = ({ tables: t }) => [
  sql`DROP INDEX ${t.oldIndex('runs_pick')}`,
  sql`CREATE INDEX ${t.index('runs_pick')} ON ${t.runs} (job_name, run_at, id, concurrency_key) WHERE status = 'pending'`,
]
