import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * A run names the files that hold the beginning of its history. When it is deleted, a trigger notes that its files are to be removed: also
 * for code that knows no archive, and at no cost for a run without files.
 */
export const archive: Migration = ({ tables: t, syntax: { key, triggerBody } }) => {
  const { define, call } = triggerBody(t.oldIndex('archive_removal'), sql`INSERT INTO ${t.removals} VALUES (OLD.id) ON CONFLICT DO NOTHING`)
  return [
    sql`ALTER TABLE ${t.runs} ADD COLUMN log_ref TEXT`,
    sql`CREATE TABLE ${t.removals} (run_id ${key} PRIMARY KEY NOT NULL)`,
    ...define,
    sql`CREATE TRIGGER ${t.index('archive_removal')} AFTER DELETE ON ${t.runs} FOR EACH ROW WHEN (OLD.log_ref IS NOT NULL) ${call}`,
  ]
}
