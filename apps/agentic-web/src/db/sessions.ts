import { sql } from 'kysely'
import type { SessionSummary } from '../wire/session.ts'
import { newId } from './id.ts'
import type { AppDatabase } from './tables.ts'

export interface SessionRow {
  session_id: string
  title: string | null
  last_turn: number
  created_at: string
  updated_at: string
}

export async function createSession(db: AppDatabase, userId: string, title: string | null): Promise<SessionRow> {
  const now = new Date().toISOString()
  const session = { session_id: newId(), title, last_turn: 0, created_at: now, updated_at: now }
  await db
    .insertInto('agent_sessions')
    .values({ ...session, user_id: userId, preview: '', deleted_at: null })
    .execute()
  return session
}

export async function findSession(db: AppDatabase, userId: string, sessionId: string): Promise<SessionRow | undefined> {
  return db
    .selectFrom('agent_sessions')
    .select(['session_id', 'title', 'last_turn', 'created_at', 'updated_at'])
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The most recently used first. `is_busy` is not known here. */
export async function listSessions(
  db: AppDatabase,
  userId: string,
  { search, limit }: { search: string; limit: number },
): Promise<Omit<SessionSummary, 'is_busy'>[]> {
  // The signs that LIKE gives a meaning to are taken literally.
  const pattern = `%${search.toLowerCase().replace(/[!%_]/g, '!$&')}%`
  return db
    .selectFrom('agent_sessions as s')
    .select(['session_id', 'title', 'preview', 'created_at', 'updated_at'])
    .select((eb) =>
      eb
        .selectFrom('agent_messages as m')
        .whereRef('m.session_id', '=', 's.session_id')
        .where('m.user_id', '=', userId)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .$asScalar()
        .$notNull()
        .as('message_count'),
    )
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .$if(search !== '', (q) =>
      q.where(sql<boolean>`lower(coalesce(title, '') || ' ' || preview || ' ' || session_id) LIKE ${pattern} ESCAPE '!'`),
    )
    .orderBy('updated_at', 'desc')
    .orderBy('session_id', 'desc')
    .limit(limit)
    .execute()
}

export async function countSessions(db: AppDatabase, userId: string): Promise<number> {
  const row = await db
    .selectFrom('agent_sessions')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(row.n)
}

export async function renameSession(db: AppDatabase, userId: string, sessionId: string, title: string | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('agent_sessions')
    .set({ title, updated_at: new Date().toISOString() })
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Takes what was said and the files away at once. The row stays until no run of it is left (worker/clean-up.ts). */
export async function markDeleted(db: AppDatabase, userId: string, sessionId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('agent_sessions')
      .set({ deleted_at: new Date().toISOString() })
      .where('user_id', '=', userId)
      .where('session_id', '=', sessionId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    await trx.deleteFrom('agent_messages').where('user_id', '=', userId).where('session_id', '=', sessionId).execute()
    await trx.deleteFrom('agent_files').where('user_id', '=', userId).where('session_id', '=', sessionId).execute()
    return numUpdatedRows > 0n
  })
}
