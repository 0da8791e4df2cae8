import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * Every step and heartbeat renews a lease, so an index by the ends of leases was written with each of them (ADR 0028). The running
 * runs are few, and are found without it. The index keeps its name, because the code of other versions asks for it by that.
 */
export const renewalsInNoIndex: Migration = ({ tables: t }) => [
  sql`DROP INDEX ${t.oldIndex('runs_lease_end')}`,
  sql`CREATE INDEX ${t.index('runs_lease_end')} ON ${t.runs} (id) WHERE status = 'running'`,
]
