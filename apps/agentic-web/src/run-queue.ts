// The queue of runs and their events, for programs: accept a message, ask a run to stop, read its events. The engine has the rest; the table
// in docs/guides/deploy-agentic-web.md says which of its verbs is which.
import type { Run } from '@coji/durably'
import { translate } from './api/translate.ts'
import type { App } from './app.ts'
import { lockUser } from './db/lock-user.ts'
import { countActive, countActiveOfUser, insertTurn, lastWorker, takeTurn } from './db/turns.ts'
import type { AgentEvent } from './wire/event.ts'
import type { RunInput } from './worker/agent-run.ts'
import { sessionKey } from './worker/session-key.ts'

export interface NewMessage {
  sessionId: string
  message: string
  /** A second message with the same key makes no second run. */
  idempotencyKey?: string
}

export type Enqueued = { runId: string; isNew: boolean } | Refusal
type Refusal = 'no session' | 'full' | 'too many of the user' | 'other message with this key'

/** The message, its place in the session and the run that answers it are one commit. */
export async function enqueue(
  { db, job, config }: Pick<App, 'db' | 'job' | 'config'>,
  userId: string,
  message: NewMessage,
): Promise<Enqueued> {
  const { sessionId, idempotencyKey } = message
  const text = message.message
  try {
    return await db.transaction().execute(async (trx): Promise<Enqueued> => {
      const { queuedRuns, perUser } = config.limits
      const isLimited = perUser.runs !== Number.POSITIVE_INFINITY
      // Before the session, and always in this order.
      if (isLimited) await lockUser(trx, userId)
      const turn = await takeTurn(trx, userId, sessionId, text)
      if (turn === undefined) return 'no session'
      const waiting = await countActive(trx, userId, sessionId)
      const worker = await lastWorker(trx, userId, sessionId)
      const input: RunInput = { userId, sessionId, turn, message: text }
      const run = await job.trigger(input, {
        tx: trx,
        ...sessionKey(sessionId),
        labels: { user: userId, session: sessionId },
        // That one may still have a connection to the model's server.
        ...(worker !== null && { preferWorkerId: worker }),
        ...(idempotencyKey !== undefined && { idempotencyKey: `${userId}/${idempotencyKey}` }),
      })
      if (!isSame(run, input)) throw new NotAccepted(answerOfKnown(run, input))
      if (waiting >= queuedRuns) throw new NotAccepted('full')
      if (isLimited && (await countActiveOfUser(trx, userId)) >= perUser.runs) throw new NotAccepted('too many of the user')
      await insertTurn(trx, userId, { runId: run.id, sessionId, turn, message: text })
      return { runId: run.id, isNew: true }
    })
  } catch (error) {
    if (error instanceof NotAccepted) return error.answer
    throw error
  }
}

/** Rolls the transaction back, so that no turn is taken and no run is stored. */
class NotAccepted extends Error {
  readonly answer: Enqueued

  constructor(answer: Enqueued) {
    super('the message was not accepted')
    this.answer = answer
  }
}

function answerOfKnown({ id, payload }: Run, { sessionId, message }: RunInput): Enqueued {
  const known = payload as RunInput
  return known.sessionId === sessionId && known.message === message ? { runId: id, isNew: false } : 'other message with this key'
}

/** A turn is given out once, so a run with another turn is an older one. */
function isSame({ payload }: Run, { sessionId, turn }: RunInput): boolean {
  const known = payload as RunInput
  return known.sessionId === sessionId && known.turn === turn
}

export async function requestCancel({ durably }: Pick<App, 'durably'>, runId: string): Promise<'cancelled' | 'requested' | 'refused'> {
  return durably.cancel(runId)
}

export interface StoredEvent {
  seq: number
  type: AgentEvent['type']
  payload: AgentEvent
}

/** What the log of the run has now after `seq`, of at most `limit` entries. It does not wait for more. */
export async function listAfter({ durably }: Pick<App, 'durably'>, runId: string, seq: number, limit: number): Promise<StoredEvent[]> {
  const last = (await durably.getRun(runId))?.lastEventSequence ?? 0
  const events: StoredEvent[] = []
  let entries = 0
  if (seq >= last || limit < 1) return events
  for await (const event of durably.subscribe(runId, { after: seq })) {
    for (const payload of translate(event)) events.push({ seq: event.sequence, type: payload.type, payload })
    entries += 1
    if (event.sequence >= last || entries >= limit) break
  }
  return events
}
