import { expect, test } from 'vitest'
import type { RunView } from '../../../src/wire/run.ts'
import type { Message, SessionView } from '../../../src/wire/session.ts'
import { type Chat, type ChatAction, chatReducer } from './chat.ts'
import { phaseOf, wasRestarted } from './phase.ts'
import { shownTurns } from './shown-turn.ts'

const time = '2026-01-01T00:00:00.000Z'

function run(run_id: string, status: RunView['status'], more: Partial<RunView> = {}): RunView {
  const times = { created_at: time, started_at: null, finished_at: null, cancel_requested_at: null }
  const rest = { error: null, worker_id: null, attempts: 0, last_seq: 0, model: null, usage: { input_tokens: 0, output_tokens: 0 } }
  return { run_id, session_id: 's', status, input_text: `ask ${run_id}`, turn: 1, ...times, ...rest, ...more }
}

function said(run_id: string, role: Message['role'], text: string): Message {
  return { id: `${run_id}-${role}`, run_id, turn: 1, role, parts: [{ type: 'text', text }], interrupted: false, created_at: time }
}

function session(messages: Message[], active_runs: RunView[]): SessionView {
  return { session_id: 's', title: null, created_at: time, updated_at: time, messages, active_runs }
}

function after(...actions: ChatAction[]): Chat {
  const chat = actions.reduce(chatReducer, null)
  if (!chat) throw new Error('nothing is open')
  return chat
}

const opened = (messages: Message[], active: RunView[], runs: RunView[] = []): ChatAction => ({
  ...{ type: 'opened', session: session(messages, active), runs },
})
const sent = (runId: string): ChatAction => ({ type: 'sent', runId, question: `ask ${runId}`, askedAt: time })
const started: ChatAction = {
  ...{ type: 'entries', runId: 'b', entries: [{ seq: 1, events: [{ type: 'run_start', worker_id: 'w1', timestamp: time }] }] },
}
const answered: ChatAction = {
  type: 'entries',
  runId: 'b',
  entries: [
    { seq: 2, events: [{ type: 'text', step_id: 'm', at: 0, content: 'answer b' }] },
    { seq: 3, events: [{ type: 'done', status: 'completed', timestamp: time }] },
  ],
}
const history = [said('a', 'user', 'ask a'), said('a', 'assistant', 'answer a')]
const shown = (chat: Chat) =>
  shownTurns(chat).map(({ runId, blocks, phase }) => [runId, phase, ...blocks.map((b) => ('text' in b ? b.text : b))])

test('a run is shown from its log or from its messages, and never from both', () => {
  const followed = after(opened(history, [run('b', 'queued')]), started, answered)
  const both = [
    ['a', 'completed', 'answer a'],
    ['b', 'completed', 'answer b'],
  ]
  expect(shown(followed)).toEqual(both)
  const readAgain = chatReducer(followed, opened([...history, said('b', 'user', 'ask b'), said('b', 'assistant', 'answer b')], []))
  expect(readAgain?.live).toEqual([])
  expect(shown(readAgain as Chat)).toEqual(both)
})

test('an answer of the server that is older than what the page has seen takes nothing away', () => {
  const chat = after(opened(history, []), sent('b'), started, answered, opened(history, []))
  expect(shown(chat)).toEqual([
    ['a', 'completed', 'answer a'],
    ['b', 'completed', 'answer b'],
  ])
  const stillRunning = after(opened(history, []), sent('b'), started, answered, opened(history, [run('b', 'running')]))
  expect(shown(stillRunning)).toEqual(shown(chat))
})

test('a message that the session has already brought is not shown twice', () => {
  expect(after(opened(history, [run('b', 'queued')]), sent('b')).live).toHaveLength(1)
  expect(after(opened(history, []), sent('a')).live).toHaveLength(0)
})

test('the phase comes from the status and the log', () => {
  const phase = (...actions: ChatAction[]) => {
    const [live] = after(...actions).live
    return live && phaseOf(live)
  }
  const queued = opened([], [run('b', 'queued')])
  const restart: ChatAction = {
    ...{ type: 'entries', runId: 'b', entries: [{ seq: 2, events: [{ type: 'run_restart', reason: 'worker_lost', timestamp: time }] }] },
  }
  const continued: ChatAction = {
    ...{ type: 'entries', runId: 'b', entries: [{ seq: 3, events: [{ type: 'run_start', worker_id: 'w2', timestamp: time }] }] },
  }
  expect(phase(queued)).toBe('queued')
  expect(phase(queued, started)).toBe('working')
  expect(phase(queued, started, restart)).toBe('restarting')
  expect(phase(queued, started, restart, continued)).toBe('working')
  expect(after(queued, started, restart, continued).live.map(wasRestarted)).toEqual([true])
  expect(after(queued, started).live.map(wasRestarted)).toEqual([false])
  expect(phase(queued, started, { type: 'stop-accepted', runId: 'b', status: 'running' })).toBe('stopping')
  expect(phase(queued, { type: 'stop-accepted', runId: 'b', status: 'cancelled' })).toBe('cancelled')
  expect(phase(opened([], [run('b', 'running', { cancel_requested_at: time })]))).toBe('stopping')
  expect(phase(queued, started, { type: 'stop-accepted', runId: 'b', status: 'running' }, answered)).toBe('completed')
})

test('an ended run says why it failed', () => {
  const error = { code: 'bad_key', message: 'The key was refused.' } as const
  const [turn] = shownTurns(after(opened([said('a', 'user', 'ask a')], [], [run('a', 'failed', { error })])))
  expect(turn).toMatchObject({ phase: 'failed', error })
})
