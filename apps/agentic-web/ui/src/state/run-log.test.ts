import { expect, test } from 'vitest'
import type { AgentEvent } from '../../../src/wire/event.ts'
import { SseEntries } from '../stream/sse-entries.ts'
import { phaseOf } from './phase.ts'
import { applyEntry, EMPTY_LOG, type LogEntry, type RunLog } from './run-log.ts'
import { blocksOfLog } from './turn.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const start = (worker_id: string): AgentEvent => ({ type: 'run_start', worker_id, timestamp })
const stepStart = (step_id: string, kind: 'model' | 'tool' = 'model'): AgentEvent => ({
  ...{ type: 'step_start', step_id, kind, step_number: 1, title: step_id, timestamp },
})
const text = (step_id: string, at: number, content: string): AgentEvent => ({ type: 'text', step_id, at, content })
const toolCall: AgentEvent = { type: 'tool_call', step_id: 'm1', at: 6, tool_call_id: 'c1', tool_step_id: 't1', tool: 'bash', args: {} }
const toolResult: AgentEvent = {
  ...{ type: 'tool_result', step_id: 't1', tool_call_id: 'c1', tool: 'bash', content: 'ok', is_error: false, truncated: false },
}
const complete = (step_id: string): AgentEvent => ({ type: 'step_complete', step_id, duration_ms: 5, timestamp })

/** A run that thinks, speaks, uses a tool, loses its worker in the middle of the second answer, and completes. */
const LOG: LogEntry[] = [
  [start('w1')],
  [stepStart('m1')],
  [
    { type: 'reasoning', step_id: 'm1', at: 0, content: 'hm ' } as const,
    { type: 'reasoning', step_id: 'm1', at: 1, content: 'so' } as const,
  ],
  [text('m1', 2, 'I '), text('m1', 4, 'do')],
  [toolCall],
  [complete('m1')],
  [stepStart('t1', 'tool')],
  [toolResult, complete('t1')],
  [stepStart('m2')],
  [text('m2', 0, 'It is ')],
  [text('m2', 6, 'wro')],
  [{ type: 'run_restart', reason: 'worker_lost', timestamp } as const],
  [start('w2')],
  [{ type: 'step_reset', step_id: 'm2', to: 0 } as const],
  [stepStart('m2')],
  [text('m2', 0, 'It is '), text('m2', 6, 'right')],
  [complete('m2')],
  [{ type: 'final', content: 'It is right' } as const, { type: 'done', status: 'completed', timestamp } as const],
].map((events, i) => ({ seq: (i + 1) * 2, events }))

const logOf = (entries: readonly LogEntry[]): RunLog => entries.reduce(applyEntry, EMPTY_LOG)

/** As the server sends it: only the last event of an entry has an `id:`. */
function sse({ seq, events }: LogEntry): string {
  return events
    .map(({ type, ...data }, i) => `event: ${type}\n${i === events.length - 1 ? `id: ${seq}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
    .join('')
}

test('parts are shown in the order in which they came, and a reset step only with its last attempt', () => {
  expect(blocksOfLog(logOf(LOG))).toEqual([
    { type: 'reasoning', text: 'hm so' },
    { type: 'text', text: 'I do' },
    { type: 'tool', toolCallId: 'c1', tool: 'bash', args: {}, result: { content: 'ok', is_error: false, truncated: false } },
    { type: 'text', text: 'It is right' },
  ])
})

test('attempts know their worker and how they ended', () => {
  const { attempts, done } = logOf(LOG)
  expect(attempts.map(({ workerId, end }) => [workerId, end?.reason])).toEqual([
    ['w1', 'worker_lost'],
    ['w2', undefined],
  ])
  expect(done).toBe('completed')
})

test('an entry that comes again changes nothing', () => {
  const whole = logOf(LOG)
  expect(LOG.reduce(applyEntry, whole)).toBe(whole)
})

test('wherever the connection is cut, also inside a message, continuing after the cursor gives the same log', () => {
  const whole = JSON.stringify(logOf(LOG))
  const stream = LOG.map(sse).join('')
  for (let cut = 0; cut <= stream.length; cut++) {
    const seen = logOf(new SseEntries().read(`retry: 1000\n\n${stream.slice(0, cut)}`))
    const rest = LOG.filter(({ seq }) => seq > seen.lastSeq)
    const entries = new SseEntries().read(`: \n\n${rest.map(sse).join('')}`)
    expect(JSON.stringify(entries.reduce(applyEntry, seen))).toBe(whole)
  }
})

test('a server that repeats more than it must does no harm', () => {
  const whole = logOf(LOG)
  for (let seen = 0; seen <= LOG.length; seen++)
    for (let from = 0; from <= seen; from++)
      expect([...LOG.slice(0, seen), ...LOG.slice(from)].reduce(applyEntry, EMPTY_LOG)).toEqual(whole)
})

test('the whole output of a finished step, sent at once, replaces what had come of it', () => {
  const half = logOf(LOG.slice(0, 4))
  const compacted: LogEntry = {
    seq: 100,
    events: [{ type: 'reasoning', step_id: 'm1', at: 0, content: 'hm so' }, text('m1', 1, 'I do'), { ...toolCall, at: 5 } as AgentEvent],
  }
  expect(blocksOfLog(applyEntry(half, compacted))).toEqual([
    { type: 'reasoning', text: 'hm so' },
    { type: 'text', text: 'I do' },
    { type: 'tool', toolCallId: 'c1', tool: 'bash', args: {}, result: null },
  ])
})

test('a failed call of the model is dropped and says when it is made again', () => {
  const failed: LogEntry = {
    seq: 100,
    events: [
      { type: 'step_reset', step_id: 'm2', to: 0 },
      { type: 'retry', step_id: 'm2', message: 'The server is overloaded.', until: timestamp, timestamp },
    ],
  }
  const log = applyEntry(logOf(LOG.slice(0, 11)), failed)
  expect(log.retry).toEqual({ message: 'The server is overloaded.', until: timestamp })
  expect(blocksOfLog(log)).toHaveLength(3)
  expect(applyEntry(log, { seq: 101, events: [stepStart('m2-again')] }).retry).toBeNull()
})

test('a tool waits for approval until the log says what was decided', () => {
  const ask: AgentEvent = {
    ...{ type: 'approval_request', step_id: 't1', tool_call_id: 'c1', tool: 'bash', expires_at: timestamp, timestamp },
  }
  const decide: AgentEvent = { type: 'approval_decision', step_id: 't1', approved: true, by: 'ada', timestamp }
  const wait: AgentEvent = { type: 'run_wait', until: '9999-01-01T00:00:00.000Z', timestamp }
  const events = [
    start('w1'),
    stepStart('m1'),
    toolCall,
    complete('m1'),
    ask,
    wait,
    start('w2'),
    decide,
    stepStart('t1', 'tool'),
    toolResult,
  ]
  const after = (n: number) => logOf(events.slice(0, n).map((event, i) => ({ seq: i + 1, events: [event] })))
  const phase = (log: RunLog) => phaseOf({ log, status: 'queued', isStopping: false })
  const approval = (log: RunLog) => blocksOfLog(log).flatMap((block) => (block.type === 'tool' ? (block.approval?.isApproved ?? []) : []))
  expect([phase(after(6)), blocksOfLog(after(6))[0]]).toEqual([
    'approval',
    expect.objectContaining({ result: null, approval: { stepId: 't1', expiresAt: timestamp, isApproved: null } }),
  ])
  expect([phase(after(7)), approval(after(7))]).toEqual(['working', []])
  expect([phase(after(10)), approval(after(10))]).toEqual(['working', [true]])
})
