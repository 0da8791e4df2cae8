// The open session. Runs that have ended before it was opened are in `stored`; every other run is followed by its log, also after its end. A
// run is never in both.
import type { RunView } from '../../../src/wire/run.ts'
import type { SessionView } from '../../../src/wire/session.ts'
import { applyEntry, EMPTY_LOG, type LogEntry, type RunLog } from './run-log.ts'
import { type StoredTurn, turnsOfMessages } from './turn.ts'

export interface Chat {
  sessionId: string
  title: string | null
  stored: readonly StoredTurn[]
  /** In the order in which they are answered. */
  live: readonly LiveRun[]
  /** What the server says about runs that have ended: model, tokens, errors. */
  views: ReadonlyMap<string, RunView>
}

export interface LiveRun {
  runId: string
  question: string
  askedAt: string
  /** As a request last said. The log is newer as soon as it says something. */
  status: RunView['status']
  isStopping: boolean
  log: RunLog
}

export type ChatAction =
  | { type: 'opened'; session: SessionView; runs: readonly RunView[] }
  | { type: 'sent'; runId: string; question: string; askedAt: string }
  | { type: 'entries'; runId: string; entries: readonly LogEntry[] }
  /** The log of the run is not the one that the page has read so far. */
  | { type: 'restarted'; runId: string }
  | { type: 'stop-accepted'; runId: string; status: RunView['status'] }

export function chatReducer(chat: Chat | null, action: ChatAction): Chat | null {
  if (action.type === 'opened') return opened(chat, action.session, action.runs)
  if (!chat) return chat
  switch (action.type) {
    case 'sent':
      return withRun(chat, action.runId) ? chat : { ...chat, live: [...chat.live, newRun(action)] }
    case 'entries':
      return changeRun(chat, action.runId, (run) => ({ ...run, log: action.entries.reduce(applyEntry, run.log) }))
    case 'restarted':
      return changeRun(chat, action.runId, (run) => ({ ...run, log: EMPTY_LOG }))
    case 'stop-accepted':
      return changeRun(chat, action.runId, (run) => ({ ...run, isStopping: true, status: action.status }))
  }
}

function opened(chat: Chat | null, { session_id, title, messages, active_runs }: SessionView, runs: readonly RunView[]): Chat {
  const before = chat?.sessionId === session_id ? chat.live : []
  const stored = turnsOfMessages(messages)
  const told = new Set([...stored, ...active_runs.map(({ run_id }) => ({ runId: run_id }))].map(({ runId }) => runId))
  const active = active_runs.map((view) =>
    liveRun(
      view,
      before.find(({ runId }) => runId === view.run_id),
    ),
  )
  // A run that the answer does not know was sent after the answer was made.
  const newer = before.filter(({ runId }) => !told.has(runId))
  return { sessionId: session_id, title, stored, live: [...active, ...newer], views: new Map(runs.map((run) => [run.run_id, run])) }
}

/** What the page knows of it already may be newer than the view. */
function liveRun({ run_id, input_text, created_at, status, cancel_requested_at }: RunView, known: LiveRun | undefined): LiveRun {
  const isStopping = cancel_requested_at !== null || (known?.isStopping ?? false)
  return { runId: run_id, question: input_text, askedAt: created_at, status, isStopping, log: known?.log ?? EMPTY_LOG }
}

function newRun({ runId, question, askedAt }: Extract<ChatAction, { type: 'sent' }>): LiveRun {
  return { runId, question, askedAt, status: 'queued', isStopping: false, log: EMPTY_LOG }
}

function withRun({ live, stored }: Chat, runId: string): boolean {
  return [...live, ...stored].some((run) => run.runId === runId)
}

function changeRun(chat: Chat, runId: string, change: (run: LiveRun) => LiveRun): Chat {
  return { ...chat, live: chat.live.map((run) => (run.runId === runId ? change(run) : run)) }
}
