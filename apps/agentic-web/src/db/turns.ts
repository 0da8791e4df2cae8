// A turn: the message of the user, the run that answers it, and what is known of that run beside the engine's row.
import type { RunModel } from '../wire/run.ts'
import type { AppTransaction } from './tables.ts'

/** Counts one more message of the session, and locks its row until the transaction ends. Undefined if there is no such session. */
export async function takeTurn(trx: AppTransaction, userId: string, sessionId: string, message: string): Promise<number | undefined> {
  const row = await trx
    .updateTable('agent_sessions')
    .set((eb) => ({ last_turn: eb('last_turn', '+', 1), preview: previewOf(message), updated_at: new Date().toISOString() }))
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .returning('last_turn')
    .executeTakeFirst()
  return row?.last_turn
}

const PREVIEW_LENGTH = 64

function previewOf(message: string): string {
  return Array.from(message.replace(/\s+/g, ' ').trim()).slice(0, PREVIEW_LENGTH).join('')
}

/** How many messages of the session wait for an answer, or are being answered. */
export async function countActive(trx: AppTransaction, userId: string, sessionId: string): Promise<number> {
  const { n } = await trx
    .selectFrom('agent_turns as t')
    .innerJoin('runs as r', 'r.id', 't.run_id')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('t.user_id', '=', userId)
    .where('t.session_id', '=', sessionId)
    .where('r.status', 'in', ['pending', 'running'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The worker that has, or had, the last run of the session. Null if none has begun. */
export async function lastWorker(trx: AppTransaction, userId: string, sessionId: string): Promise<string | null> {
  const row = await trx
    .selectFrom('agent_turns as t')
    .innerJoin('runs as r', 'r.id', 't.run_id')
    .select('r.worker_id')
    .where('t.user_id', '=', userId)
    .where('t.session_id', '=', sessionId)
    .where('r.worker_id', 'is not', null)
    .orderBy('t.turn', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.worker_id ?? null
}

/** The same, of all sessions of the user. */
export async function countActiveOfUser(trx: AppTransaction, userId: string): Promise<number> {
  const { n } = await trx
    .selectFrom('agent_turns as t')
    .innerJoin('runs as r', 'r.id', 't.run_id')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('t.user_id', '=', userId)
    .where('r.status', 'in', ['pending', 'running'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

export interface NewTurn {
  runId: string
  sessionId: string
  turn: number
  message: string
}

export async function insertTurn(trx: AppTransaction, userId: string, { runId, sessionId, turn, message }: NewTurn): Promise<void> {
  const created_at = new Date().toISOString()
  const place = { session_id: sessionId, user_id: userId, run_id: runId, turn, created_at }
  await trx
    .insertInto('agent_turns')
    .values({ ...place, input_text: message, model: null, input_tokens: 0, output_tokens: 0 })
    .execute()
  await trx
    .insertInto('agent_messages')
    .values({ ...place, position: 0, role: 'user', parts: JSON.stringify([{ type: 'text', text: message }]), interrupted: 0 })
    .execute()
}

export async function setModel(trx: AppTransaction, userId: string, runId: string, model: RunModel): Promise<void> {
  await trx
    .updateTable('agent_turns')
    .set({ model: JSON.stringify(model) })
    .where('user_id', '=', userId)
    .where('run_id', '=', runId)
    .execute()
}
