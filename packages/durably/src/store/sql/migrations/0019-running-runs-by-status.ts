import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * On Postgres `runs_status` finds the running runs as well as an index of their own, which each claim had to write (ADR 0033). On SQLite
 * statements ask for that index by name.
 */
export const runningRunsByStatus: Migration = ({ tables: t, syntax: { namesIndexes } }) =>
  namesIndexes ? [] : [sql`DROP INDEX ${t.oldIndex('runs_lease_end')}`]
