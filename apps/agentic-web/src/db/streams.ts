// The event streams that a user has open, on all servers together. A row that nobody renews, because its server is gone, stops counting by itself.
import { newId } from './id.ts'
import { lockUser } from './lock-user.ts'
import type { AppDatabase } from './tables.ts'

const ROW_MS = 45_000

/** Undefined if the user has as many as allowed. */
export async function takeStream(db: AppDatabase, userId: string, max: number): Promise<string | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockUser(trx, userId)
    const { n } = await trx
      .selectFrom('agent_streams')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('user_id', '=', userId)
      .where('expires_at', '>', Date.now())
      .executeTakeFirstOrThrow()
    if (Number(n) >= max) return undefined
    const stream_id = newId()
    await trx
      .insertInto('agent_streams')
      .values({ stream_id, user_id: userId, expires_at: Date.now() + ROW_MS })
      .execute()
    return stream_id
  })
}

export async function renewStream(db: AppDatabase, userId: string, streamId: string): Promise<void> {
  await db
    .updateTable('agent_streams')
    .set({ expires_at: Date.now() + ROW_MS })
    .where('user_id', '=', userId)
    .where('stream_id', '=', streamId)
    .execute()
}

export async function giveStreamBack(db: AppDatabase, userId: string, streamId: string): Promise<void> {
  await db.deleteFrom('agent_streams').where('user_id', '=', userId).where('stream_id', '=', streamId).execute()
}
