// The queue of runs and their events, for programs: accept a message, ask a run to stop, read its events. The engine has the rest; the table
// in docs/guides/deploy-agentic-web.md says which of its verbs is which.
import type { Run } from '@coji/durably'
import { translate } from './api/translate.ts'
import type { App } from './app.ts'
import { insertTurn, takeTurn } from './db/turns.ts'
import type { AgentEvent } from './wire/event.ts'
import type { RunInput } from './worker/agent-run.ts'
import { sessionKey } from './worker/session-key.ts'

export interface NewMessage {
  sessionId: string
  message: string
  /** A second message with the same key makes no second run. */
  idempotencyKey?: string
}

export type Enqueued = { runId: string; isNew: boolean } | 'no session' | 'other message with this key'

/** The message, its place in the session and the run that answers it are one commit. */
export async function enqueue({ db, job }: Pick<App, 'db' | 'job'>, userId: string, message: NewMessage): Promise<Enqueued> {
  const { sessionId, idempotencyKey } = message
  const text = message.message
  try {
    return await db.transaction().execute(async (trx): Promise<Enqueued> => {
      const turn = await takeTurn(trx, userId, sessionId, text)
      if (turn === undefined) return 'no session'
      const input: RunInput = { userId, sessionId, turn, message: text }
      const run = await job.trigger(input, {
        tx: trx,
        ...sessionKey(sessionId),
        labels: { user: userId, session: sessionId },
        ...(idempotencyKey !== undefined && { idempotencyKey: `${userId}/${idempotencyKey}` }),
      })
      if (!isSame(run, input)) throw new Known(run)
      await insertTurn(trx, userId, { runId: run.id, sessionId, turn, message: text })
      return { runId: run.id, isNew: true }
    })
  } catch (error) {
    if (!(error instanceof Known)) throw error
    const known = error.run.payload as RunInput
    return known.sessionId === sessionId && known.message === text ? { runId: error.run.id, isNew: false } : 'other message with this key'
  }
}

/** Rolls the transaction back: the key was used before, so no turn is taken. */
class Known extends Error {
  readonly run: Run

  constructor(run: Run) {
    super('the key was used before')
    this.run = run
  }
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
