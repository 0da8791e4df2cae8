// The workspace of a session: its files, in the database, so that every worker sees the same ones.
import { sql } from 'kysely'
import type { WorkspaceFile } from '../wire/session.ts'
import type { AppDatabase, AppTransaction } from './tables.ts'

export { WORKSPACE_BYTES_MAX } from '../tools/inside/workspace-limits.ts'

/** A file that a tool wrote (its content as Base64), or removed (null). */
export interface FileChange {
  path: string
  content: string | null
}

export async function listFiles(db: AppDatabase, userId: string, sessionId: string): Promise<WorkspaceFile[]> {
  return db
    .selectFrom('agent_files')
    .select(['path', 'bytes', 'updated_at'])
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .orderBy('path')
    .execute()
}

export async function readFile(db: AppDatabase, userId: string, sessionId: string, path: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('agent_files')
    .select('content')
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('path', '=', path)
    .executeTakeFirst()
  return row?.content
}

export async function loadWorkspace(db: AppDatabase, userId: string, sessionId: string): Promise<Map<string, Uint8Array>> {
  const rows = await db
    .selectFrom('agent_files')
    .select(['path', 'content'])
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .execute()
  return new Map(rows.map(({ path, content }) => [path, content]))
}

/** What the user has in all sessions: files, and outputs of tools that were too long. */
export async function bytesOf(db: AppDatabase, userId: string): Promise<number> {
  const files = await db
    .selectFrom('agent_files')
    .select(({ fn }) => fn.sum<number | null>('bytes').as('n'))
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const artifacts = await db
    .selectFrom('agent_artifacts')
    .select(sql<number | null>`sum(length(content))`.as('n'))
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return Number(files?.n ?? 0) + Number(artifacts?.n ?? 0)
}

/** Applying the same changes again changes nothing. */
export async function applyChanges(
  trx: AppTransaction,
  { userId, sessionId }: { userId: string; sessionId: string },
  changes: readonly FileChange[],
): Promise<void> {
  for (const { path, content } of changes) {
    if (content === null) {
      await trx
        .deleteFrom('agent_files')
        .where('user_id', '=', userId)
        .where('session_id', '=', sessionId)
        .where('path', '=', path)
        .execute()
      continue
    }
    const bytes = Buffer.from(content, 'base64')
    const file = { content: bytes, bytes: bytes.length, updated_at: new Date().toISOString() }
    await trx
      .insertInto('agent_files')
      .values({ session_id: sessionId, user_id: userId, path, ...file })
      .onConflict((conflict) => conflict.columns(['session_id', 'path']).doUpdateSet(file))
      .execute()
  }
}
