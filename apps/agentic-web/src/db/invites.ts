// Links with which a user chooses a password. Each works once, and for a day.
import { hashOfToken, newToken } from '../auth/token.ts'
import type { AppDatabase } from './tables.ts'
import { setPassword } from './users.ts'
import { endAllWebSessions } from './web-sessions.ts'

const INVITE_MS = 86_400_000

/** Returns the token for the link. Links that the user had before stop working. */
export async function createInvite(db: AppDatabase, userId: string): Promise<string> {
  const token = newToken()
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('agent_invites').where('user_id', '=', userId).execute()
    await trx
      .insertInto('agent_invites')
      .values({
        token_hash: hashOfToken(token),
        user_id: userId,
        expires_at: new Date(Date.now() + INVITE_MS).toISOString(),
        used_at: null,
      })
      .execute()
  })
  return token
}

/** Whether the link would be accepted. It saves the work of hashing a password for one that would not. */
export async function isInvite(db: AppDatabase, token: string): Promise<boolean> {
  const row = await db
    .selectFrom('agent_invites')
    .select('user_id')
    .where('token_hash', '=', hashOfToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', new Date().toISOString())
    .executeTakeFirst()
  return row !== undefined
}

/** Uses the link up and sets the password; whoever was signed in as this user no longer is. Undefined if the link is not valid any more. */
export async function acceptInvite(db: AppDatabase, token: string, passwordHash: string): Promise<string | undefined> {
  const now = new Date().toISOString()
  return db.transaction().execute(async (trx) => {
    const used = await trx
      .updateTable('agent_invites')
      .set({ used_at: now })
      .where('token_hash', '=', hashOfToken(token))
      .where('used_at', 'is', null)
      .where('expires_at', '>', now)
      .returning('user_id')
      .executeTakeFirst()
    if (!used) return undefined
    await setPassword(trx, used.user_id, passwordHash)
    await endAllWebSessions(trx, used.user_id)
    return used.user_id
  })
}
