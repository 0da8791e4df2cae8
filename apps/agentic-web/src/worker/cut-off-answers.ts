// What runs of a session had said when they were stopped or failed. It is in their logs only: a run that was stopped cannot write any more.
// The next run of the session writes it; until then whoever shows the session reads it here.
import { emptyRunView, reduceRun } from '@coji/durably'
import type { App } from '../app.ts'
import type { ModelChunk } from '../model/chunk.ts'
import type { MessagePart } from '../wire/session.ts'
import { saveStep, shownStep } from './step-names.ts'

export interface CutOffAnswer {
  runId: string
  turn: number
  parts: MessagePart[]
}

export interface SessionPlace {
  userId: string
  sessionId: string
  /** Only of earlier turns than this. */
  turn: number
}

export async function cutOffAnswers(app: Pick<App, 'db' | 'durably'>, { userId, sessionId, turn }: SessionPlace): Promise<CutOffAnswer[]> {
  const ended = await app.db
    .selectFrom('agent_turns as t')
    .innerJoin('runs as r', 'r.id', 't.run_id')
    .select(['t.run_id', 't.turn'])
    .where('t.user_id', '=', userId)
    .where('t.session_id', '=', sessionId)
    .where('t.turn', '<', turn)
    // Others have said nothing.
    .where('t.model', 'is not', null)
    .where('r.status', 'in', ['failed', 'cancelled'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('agent_messages as m')
            .select('m.turn')
            .whereRef('m.session_id', '=', 't.session_id')
            .whereRef('m.turn', '=', 't.turn')
            .where('m.interrupted', '=', 1),
        ),
      ),
    )
    .orderBy('t.turn', 'desc')
    .limit(TURNS_MAX)
    .execute()
  const answers = await Promise.all(
    ended.map(async ({ run_id, turn }) => ({ runId: run_id, turn, parts: await unsavedParts(app, run_id) })),
  )
  return answers.filter(({ parts }) => parts.length > 0)
}

/** Each run that begins writes down those before it, so one would do; more are for runs that overlapped because a worker was lost. */
const TURNS_MAX = 5

async function unsavedParts({ durably }: Pick<App, 'durably'>, runId: string): Promise<MessagePart[]> {
  let view = emptyRunView
  const completed = new Set<string>()
  for await (const event of durably.subscribe(runId)) {
    view = reduceRun(view, event)
    if (event.type === 'step:complete') completed.add(event.stepName)
  }
  const last = Object.entries(view.streams).findLast(([name]) => shownStep(name)?.kind === 'model')
  if (!last || completed.has(saveStep(last[0]))) return []
  return last[1].chunks.map((chunk) => partOf(chunk as ModelChunk))
}

function partOf(chunk: ModelChunk): MessagePart {
  if (typeof chunk === 'string') return { type: 'text', text: chunk }
  if ('reasoning' in chunk) return { type: 'reasoning', text: chunk.reasoning }
  const { tool_step_id: _, ...call } = chunk.tool_call
  return { type: 'tool_call', ...call }
}
