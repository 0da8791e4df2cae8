// Browsers in which a user has signed in.
//   W1. The cookie is an opaque token, and the row decides: whoever removes the row has signed the browser out, on every server at once.
//   W2. A session ends when it was not used for two weeks, and three months after the sign-in in any case.
import { hashOfToken, newToken } from '../auth/token.ts'
import type { AppDatabase } from './tables.ts'
import type { User } from './users.ts'

const DAY_MS = 86_400_000
const IDLE_MS = 14 * DAY_MS
export const SESSION_MS_MAX = 90 * DAY_MS
/** That a session is in use is written down once an hour, not with every request. */
const TOUCH_MS = 3_600_000

/** Returns the token for the cookie. */
export async function createWebSession(db: AppDatabase, userId: string): Promise<string> {
  const token = newToken()
  const now = Date.now()
  await db
    .insertInto('agent_web_sessions')
    .values({
      id_hash: hashOfToken(token),
      user_id: userId,
      created_at: isoOf(now),
      last_seen_at: isoOf(now),
      expires_at: isoOf(now + IDLE_MS),
    })
    .execute()
  return token
}

export async function findSignedIn(db: AppDatabase, token: string): Promise<User | undefined> {
  const idHash = hashOfToken(token)
  const now = Date.now()
  const row = await db
    .selectFrom('agent_web_sessions as s')
    .innerJoin('agent_users as u', 'u.user_id', 's.user_id')
    .select(['u.user_id', 'u.email', 's.created_at', 's.last_seen_at'])
    .where('s.id_hash', '=', idHash)
    .where('s.expires_at', '>', isoOf(now))
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  if (now - Date.parse(row.last_seen_at) > TOUCH_MS) {
    const end = Math.min(now + IDLE_MS, Date.parse(row.created_at) + SESSION_MS_MAX)
    await db
      .updateTable('agent_web_sessions')
      .set({ last_seen_at: isoOf(now), expires_at: isoOf(end) })
      .where('id_hash', '=', idHash)
      .execute()
  }
  return { user_id: row.user_id, email: row.email }
}

export async function endWebSession(db: AppDatabase, token: string): Promise<void> {
  await db.deleteFrom('agent_web_sessions').where('id_hash', '=', hashOfToken(token)).execute()
}

export async function endAllWebSessions(db: AppDatabase, userId: string): Promise<void> {
  await db.deleteFrom('agent_web_sessions').where('user_id', '=', userId).execute()
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
