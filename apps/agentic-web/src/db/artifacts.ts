// What a tool returned and was too long for an event: the whole of it, to be downloaded. Results and events have its id and its beginning.
import type { Artifact } from '../wire/session.ts'
import { newId } from './id.ts'
import type { AppDatabase } from './tables.ts'

export interface ArtifactPlace {
  userId: string
  sessionId: string
  runId: string
}

/**
 * Each execution of a tool stores its own under a new id, and only the one that is recorded is ever named. So a tool that is repeated, or a worker that comes
 * back late, changes nothing that somebody can see. What was stored in vain goes with the session.
 */
export async function storeArtifact(db: AppDatabase, { userId, sessionId, runId }: ArtifactPlace, text: string): Promise<Artifact> {
  const content = Buffer.from(text)
  const artifact_id = newId()
  const created_at = new Date().toISOString()
  await db
    .insertInto('agent_artifacts')
    .values({ artifact_id, session_id: sessionId, user_id: userId, run_id: runId, content, created_at })
    .execute()
  return { id: artifact_id, bytes: content.length }
}

export async function readArtifact(db: AppDatabase, userId: string, artifactId: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('agent_artifacts')
    .select('content')
    .where('user_id', '=', userId)
    .where('artifact_id', '=', artifactId)
    .executeTakeFirst()
  return row?.content
}
