import { type RawBuilder, sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * A foreign key looks its run up for each row of it that is inserted. Every statement that inserts steps or events has changed that run already
 * (ADR 0030). A trigger deletes them with their run instead, also for code of other versions. On SQLite the keys cost nothing, and stay.
 */
export const fewerForeignKeys: Migration = ({ tables: t, syntax: { cascades, triggerBody } }) => {
  if (!cascades) return []
  const belonging: [name: string, table: RawBuilder<unknown>][] = [
    ['steps', t.steps],
    ['run_events', t.events],
  ]
  const deletes = belonging.map(([, table]) => sql`DELETE FROM ${table} WHERE run_id = OLD.id`)
  const { define, call } = triggerBody(t.oldIndex('rows_of_run'), sql.join(deletes, sql`; `))
  return [
    ...define,
    sql`CREATE TRIGGER ${t.index('rows_of_run')} AFTER DELETE ON ${t.runs} FOR EACH ROW ${call}`,
    ...belonging.map(([name, table]) => sql`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${t.index(`${name}_run_id_fkey`)}`),
  ]
}
