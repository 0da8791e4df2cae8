import { type RawBuilder, sql } from 'kysely'
import type { DatabaseKind } from '../kind.ts'

export function createArtifacts(kind: DatabaseKind): RawBuilder<unknown>[] {
  const blob = sql.raw(kind === 'postgres' ? 'BYTEA' : 'BLOB')
  return [
    sql`CREATE TABLE agent_artifacts (
      artifact_id TEXT PRIMARY KEY NOT NULL,
      session_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      content ${blob} NOT NULL,
      created_at TEXT NOT NULL,
      FOREIGN KEY (session_id, user_id) REFERENCES agent_sessions (session_id, user_id) ON DELETE CASCADE
    )`,
    sql`CREATE INDEX agent_artifacts_of_session ON agent_artifacts (session_id, user_id)`,
  ]
}
