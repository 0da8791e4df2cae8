// Who somebody is at the service that signs users in. The pair of issuer and subject never changes its owner; an address might.
import type { Identity } from '../oauth/client.ts'
import type { AppDatabase } from './tables.ts'
import { createUser, findByEmail, findUser } from './users.ts'

/** Undefined if this is no user, and may not become one. */
export async function userOfIdentity(
  db: AppDatabase,
  { issuer, subject, email, isEmailVerified }: Identity,
  { isOpenToAll }: { isOpenToAll: boolean },
): Promise<string | undefined> {
  const known = await db
    .selectFrom('agent_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  if (known) return (await findUser(db, known.user_id))?.user_id
  // Anybody can write any address into an account. The service vouches for a verified one.
  if (email === null || !isEmailVerified) return undefined
  if (isOpenToAll) await createUser(db, email)
  const user = await findByEmail(db, email)
  if (!user) return undefined
  await db
    .insertInto('agent_identities')
    .values({ issuer, subject, user_id: user.user_id, created_at: new Date().toISOString() })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .execute()
  return user.user_id
}
