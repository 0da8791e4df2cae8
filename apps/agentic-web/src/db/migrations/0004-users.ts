import { type RawBuilder, sql } from 'kysely'
import { LOCAL_USER } from '../../user.ts'
import type { DatabaseKind } from '../kind.ts'

export function createUsers(kind: DatabaseKind): RawBuilder<unknown>[] {
  const ofUser = sql`FOREIGN KEY (user_id) REFERENCES agent_users (user_id) ON DELETE CASCADE`
  const statements = [
    sql`CREATE TABLE agent_users (
      user_id TEXT PRIMARY KEY NOT NULL,
      email TEXT UNIQUE,
      password_hash TEXT,
      created_at TEXT NOT NULL,
      disabled_at TEXT
    )`,
    // Everything that there is belongs to this user. Nobody can sign in as this one: there is no address and no password.
    sql`INSERT INTO agent_users (user_id, created_at) VALUES (${sql.lit(LOCAL_USER)}, ${sql.lit(new Date().toISOString())})`,
    sql`CREATE TABLE agent_identities (
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      user_id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (issuer, subject),
      ${ofUser}
    )`,
    sql`CREATE TABLE agent_web_sessions (
      id_hash TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      last_seen_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      ${ofUser}
    )`,
    sql`CREATE INDEX agent_web_sessions_of_user ON agent_web_sessions (user_id)`,
    sql`CREATE TABLE agent_invites (
      token_hash TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      used_at TEXT,
      ${ofUser}
    )`,
    sql`CREATE TABLE agent_counters (
      subject TEXT NOT NULL,
      window_start BIGINT NOT NULL,
      n INTEGER NOT NULL,
      PRIMARY KEY (subject, window_start)
    )`,
    // Tables that name a run can name its user with it, as those of a session do.
    sql`CREATE UNIQUE INDEX agent_turns_of_user ON agent_turns (run_id, user_id)`,
  ]
  // SQLite cannot add a foreign key to a table that exists.
  if (kind === 'sqlite') return statements
  return [
    ...statements,
    sql`ALTER TABLE agent_sessions ADD FOREIGN KEY (user_id) REFERENCES agent_users (user_id)`,
    sql`ALTER TABLE agent_settings ADD FOREIGN KEY (user_id) REFERENCES agent_users (user_id) ON DELETE CASCADE`,
  ]
}
