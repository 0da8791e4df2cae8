import type { Usage } from '../wire/event.ts'
import type { Message, MessagePart } from '../wire/session.ts'
import type { AppDatabase, AppTransaction } from './tables.ts'

/** Which run writes the message, and where it stands in the session. */
export interface MessagePlace {
  userId: string
  sessionId: string
  runId: string
  turn: number
  position: number
}

export interface NewMessage {
  role: 'assistant' | 'tool'
  parts: MessagePart[]
  interrupted?: boolean
}

/** False if the session was deleted: then nothing is written. A message that is there already stays as it is. */
export async function insertMessage(trx: AppTransaction, place: MessagePlace, message: NewMessage): Promise<boolean> {
  const { userId, sessionId, runId, turn, position } = place
  const now = new Date().toISOString()
  const { numUpdatedRows } = await trx
    .updateTable('agent_sessions')
    .set({ updated_at: now })
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await trx
    .insertInto('agent_messages')
    .values({
      session_id: sessionId,
      user_id: userId,
      run_id: runId,
      turn,
      position,
      role: message.role,
      parts: JSON.stringify(message.parts),
      interrupted: message.interrupted ? 1 : 0,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['session_id', 'turn', 'position']).doNothing())
    .execute()
  return true
}

export async function addUsage(trx: AppTransaction, userId: string, runId: string, usage: Usage): Promise<void> {
  await trx
    .updateTable('agent_turns')
    .set((eb) => ({
      input_tokens: eb('input_tokens', '+', usage.input_tokens),
      output_tokens: eb('output_tokens', '+', usage.output_tokens),
    }))
    .where('user_id', '=', userId)
    .where('run_id', '=', runId)
    .execute()
}

/** The largest INTEGER of Postgres. */
const LAST_TURN = 2_147_483_647

/** In the order in which they were said; with `before`, only those of earlier turns. */
export async function listMessages(db: AppDatabase, userId: string, sessionId: string, before = LAST_TURN): Promise<Message[]> {
  const rows = await db
    .selectFrom('agent_messages')
    .selectAll()
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('turn', '<', before)
    .orderBy('turn')
    .orderBy('position')
    .execute()
  return rows.map(({ run_id, turn, position, role, parts, interrupted, created_at }) => ({
    id: `${run_id}-${position}`,
    run_id,
    turn,
    role,
    parts: JSON.parse(parts) as MessagePart[],
    interrupted: interrupted === 1,
    created_at,
  }))
}
