import { sql } from 'kysely'
import type { Migration } from './index.ts'

/**
 * Events that were sent, what workers say of their jobs, and settings of all processes. A run whose input was stored by a process without the
 * job is `unchecked`.
 */
export const inboxSettings: Migration = ({ tables: t, syntax: { bigint, key } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN unchecked INTEGER`,
  sql`CREATE TABLE ${t.inbox} (
      id ${key} PRIMARY KEY NOT NULL,
      name ${key} NOT NULL,
      data TEXT,
      dedupe_key ${key} UNIQUE,
      leader_epoch ${bigint},
      processed_at ${bigint},
      created_at ${bigint} NOT NULL
    )`,
  sql`CREATE INDEX ${t.index('inbox_due')} ON ${t.inbox} (processed_at, created_at, id)`,
  sql`CREATE TABLE ${t.definitions} (
      name ${key} PRIMARY KEY NOT NULL,
      input TEXT,
      subscriptions TEXT,
      version INTEGER NOT NULL,
      updated_at ${bigint} NOT NULL
    )`,
  sql`CREATE TABLE ${t.settings} (
      name ${key} PRIMARY KEY NOT NULL,
      value TEXT,
      updated_by TEXT,
      version INTEGER NOT NULL,
      updated_at ${bigint} NOT NULL
    )`,
]
