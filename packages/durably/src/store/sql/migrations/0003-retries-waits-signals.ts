import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** A signal is known by its run and its name: the primary key lets the first one win. */
export const retriesWaitsSignals: Migration = ({ tables: t, syntax: { bigint, key, belongsTo } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN deadline_at ${bigint}`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN waiting_for TEXT`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN signals INTEGER NOT NULL DEFAULT 0`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN effects TEXT`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN parent_run_id ${key}`,
  sql`CREATE INDEX ${t.index('runs_parent')} ON ${t.runs} (parent_run_id, id) WHERE parent_run_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_finished_at')} ON ${t.runs} (finished_at, id) WHERE finished_at IS NOT NULL`,
  sql`CREATE TABLE ${t.signals} (
    run_id ${key} NOT NULL ${belongsTo(t.runs)},
    name ${key} NOT NULL,
    id ${key} NOT NULL,
    value TEXT,
    created_at ${key} NOT NULL,
    PRIMARY KEY (run_id, name)
  )`,
]
