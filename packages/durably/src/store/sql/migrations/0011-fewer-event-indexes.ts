import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** No query asks for the events of a run by their time: they are read by `seq`, which the primary key gives (ADR 0018). */
export const fewerEventIndexes: Migration = ({ tables: t }) => [sql`DROP INDEX ${t.oldIndex('run_events_created_at')}`]
