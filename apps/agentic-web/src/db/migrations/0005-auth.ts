import { type RawBuilder, sql } from 'kysely'
import type { DatabaseKind } from '../kind.ts'

export function createAuth(kind: DatabaseKind): RawBuilder<unknown>[] {
  const ofUser = sql`FOREIGN KEY (user_id) REFERENCES agent_users (user_id) ON DELETE CASCADE`
  return [
    // Keys were in here before, sealed in another way; whoever has one enters it again.
    kind === 'postgres'
      ? sql`UPDATE agent_settings SET value = (value::jsonb - 'keys')::text`
      : sql`UPDATE agent_settings SET value = json_remove(value, '$.keys')`,
    sql`CREATE TABLE agent_secrets (
      user_id TEXT NOT NULL,
      name TEXT NOT NULL,
      sealed TEXT NOT NULL,
      last4 TEXT NOT NULL,
      version INTEGER NOT NULL,
      updated_at TEXT NOT NULL,
      PRIMARY KEY (user_id, name),
      ${ofUser}
    )`,
    sql`CREATE TABLE auth (
      user_id TEXT NOT NULL,
      provider TEXT NOT NULL,
      account TEXT,
      sealed TEXT NOT NULL,
      version INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('connected', 'reconnect')),
      expires_at BIGINT,
      refresh_lease TEXT,
      refresh_lease_until BIGINT,
      updated_at TEXT NOT NULL,
      PRIMARY KEY (user_id, provider),
      ${ofUser}
    )`,
    sql`CREATE TABLE oauth_state (
      state_hash TEXT PRIMARY KEY NOT NULL,
      provider TEXT NOT NULL,
      purpose TEXT NOT NULL CHECK (purpose IN ('login', 'connect')),
      user_id TEXT,
      bind_hash TEXT NOT NULL,
      sealed TEXT NOT NULL,
      redirect_uri TEXT NOT NULL,
      return_to TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      consumed_at BIGINT,
      ${ofUser}
    )`,
    sql`CREATE TABLE agent_streams (
      stream_id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      ${ofUser}
    )`,
    sql`CREATE INDEX agent_streams_of_user ON agent_streams (user_id)`,
  ]
}
