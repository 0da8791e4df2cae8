import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** Open streams stand in the row of their run: what a claim reads elsewhere may be older than the row it got. */
export const streams: Migration = ({ tables: t }) => [sql`ALTER TABLE ${t.runs} ADD COLUMN streams TEXT`]
