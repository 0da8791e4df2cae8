import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * The labels of a run stand in its row. Only a run that has some has rows in the table by which they are found. On SQLite triggers write and
 * delete those: a run costs no statement more, and code that knows no labels leaves none behind when it deletes a run.
 */
export const labels: Migration = ({ tables: t, syntax: { key, belongsTo, cascades, clustered } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN labels TEXT`,
  sql`CREATE TABLE ${t.labels} (
    name ${key} NOT NULL,
    value ${key} NOT NULL,
    run_id ${key} NOT NULL ${belongsTo(t.runs)},
    PRIMARY KEY (name, value, run_id)
  ) ${clustered}`,
  ...(cascades
    ? [sql`CREATE INDEX ${t.index('run_labels_run_id')} ON ${t.labels} (run_id)`]
    : [
        sql`CREATE TRIGGER ${t.index('run_labels_insert')} AFTER INSERT ON ${t.runs} WHEN NEW.labels IS NOT NULL BEGIN
          INSERT INTO ${t.labels} SELECT key, value, NEW.id FROM json_each(NEW.labels); END`,
        sql`CREATE TRIGGER ${t.index('run_labels_delete')} AFTER DELETE ON ${t.runs} WHEN json_valid(OLD.labels) BEGIN
          DELETE FROM ${t.labels} WHERE run_id = OLD.id AND (name, value) IN (SELECT key, value FROM json_each(OLD.labels)); END`,
      ]),
]
