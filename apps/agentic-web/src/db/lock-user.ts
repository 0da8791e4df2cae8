import { kindOf } from './kind.ts'
import type { AppTransaction } from './tables.ts'

/** Until the transaction ends, nobody else counts what this user has. SQLite has one writer at a time anyway. */
export async function lockUser(trx: AppTransaction, userId: string): Promise<void> {
  await trx
    .selectFrom('agent_users')
    .select('user_id')
    .where('user_id', '=', userId)
    .$if(kindOf(trx) === 'postgres', (query) => query.forNoKeyUpdate())
    .execute()
}
