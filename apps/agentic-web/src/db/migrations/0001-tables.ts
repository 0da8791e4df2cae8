import { type RawBuilder, sql } from 'kysely'
import type { DatabaseKind } from '../kind.ts'

export function createTables(kind: DatabaseKind): RawBuilder<unknown>[] {
  const blob = sql.raw(kind === 'postgres' ? 'BYTEA' : 'BLOB')
  // The pair, not the id alone: a row of one user can never name a session of another.
  const ofSession = sql`FOREIGN KEY (session_id, user_id) REFERENCES agent_sessions (session_id, user_id) ON DELETE CASCADE`
  return [
    sql`CREATE TABLE agent_sessions (
      session_id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      title TEXT,
      preview TEXT NOT NULL DEFAULT '',
      last_turn INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      deleted_at TEXT,
      UNIQUE (session_id, user_id)
    )`,
    sql`CREATE INDEX agent_sessions_recent ON agent_sessions (user_id, updated_at)`,
    sql`CREATE TABLE agent_turns (
      run_id TEXT PRIMARY KEY NOT NULL,
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      turn INTEGER NOT NULL,
      input_text TEXT NOT NULL,
      model TEXT,
      input_tokens INTEGER NOT NULL DEFAULT 0,
      output_tokens INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      UNIQUE (session_id, turn),
      ${ofSession}
    )`,
    sql`CREATE TABLE agent_messages (
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      turn INTEGER NOT NULL,
      position INTEGER NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
      parts TEXT NOT NULL,
      interrupted INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      PRIMARY KEY (session_id, turn, position),
      ${ofSession}
    )`,
    sql`CREATE TABLE agent_settings (
      user_id TEXT PRIMARY KEY NOT NULL,
      value TEXT NOT NULL,
      version INTEGER NOT NULL,
      updated_at TEXT NOT NULL
    )`,
    sql`CREATE TABLE agent_files (
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      path TEXT NOT NULL,
      content ${blob} NOT NULL,
      bytes INTEGER NOT NULL,
      updated_at TEXT NOT NULL,
      PRIMARY KEY (session_id, path),
      ${ofSession}
    )`,
  ]
}
