import { newId } from './id.ts'
import type { AppDatabase, AppTransaction } from './tables.ts'

export interface User {
  user_id: string
  email: string | null
}

export function normalEmail(email: string): string {
  return email.trim().toLowerCase()
}

/** The user with this address, who is made if there is none. */
export async function createUser(db: AppDatabase, email: string): Promise<{ userId: string; isNew: boolean }> {
  const user = { user_id: newId(), email: normalEmail(email), password_hash: null, created_at: new Date().toISOString(), disabled_at: null }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('agent_users')
    .values(user)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 1n) return { userId: user.user_id, isNew: true }
  const { user_id } = await db.selectFrom('agent_users').select('user_id').where('email', '=', user.email).executeTakeFirstOrThrow()
  return { userId: user_id, isNew: false }
}

/** Undefined if nobody with this address may sign in. */
export async function findByEmail(db: AppDatabase, email: string): Promise<(User & { password_hash: string | null }) | undefined> {
  return db
    .selectFrom('agent_users')
    .select(['user_id', 'email', 'password_hash'])
    .where('email', '=', normalEmail(email))
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
}

export async function findUser(db: AppDatabase, userId: string): Promise<(User & { password_hash: string | null }) | undefined> {
  return db
    .selectFrom('agent_users')
    .select(['user_id', 'email', 'password_hash'])
    .where('user_id', '=', userId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
}

export async function setPassword(trx: AppTransaction, userId: string, passwordHash: string): Promise<void> {
  await trx.updateTable('agent_users').set({ password_hash: passwordHash }).where('user_id', '=', userId).execute()
}
