import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** A manual retry gives every step its tries anew, so it must be known which of the failed ones came before it. */
export const manualRetries: Migration = ({ tables: t }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN retry_generation INTEGER NOT NULL DEFAULT 0`,
]
