import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** Who did what. Nothing is written to it by a program that names no actor and has no leader. */
export const audit: Migration = ({ tables: t, syntax: { bigint, key } }) => [
  sql`CREATE TABLE ${t.audit} (
      id ${key} PRIMARY KEY NOT NULL,
      created_at ${bigint} NOT NULL,
      actor ${key} NOT NULL,
      action ${key} NOT NULL,
      target_kind ${key} NOT NULL,
      target_id ${key} NOT NULL,
      version ${bigint},
      detail TEXT
    )`,
  ...[
    ['audit_time', sql``],
    ['audit_actor', sql`actor, `],
    ['audit_action', sql`action, `],
    ['audit_target', sql`target_kind, target_id, `],
  ].map(([name, columns]) => sql`CREATE INDEX ${t.index(name as string)} ON ${t.audit} (${columns}created_at, id)`),
]
