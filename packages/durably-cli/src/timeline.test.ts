import type { RunLogEvent } from '@coji/durably'
import { expect, test } from 'vitest'
import { timelineOf } from './timeline.ts'

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
}

function event(sequence: number, fields: object): RunLogEvent {
  return { sequence, timestamp: at(sequence), runId: 'r', jobName: 'j', ...fields } as unknown as RunLogEvent
}

test('each claim begins a stretch of its worker, and what ends it is said in words', () => {
  const { triggeredAt, stretches, between } = timelineOf([
    event(1, { type: 'run:trigger' }),
    event(2, { type: 'run:start', workerId: 'a' }),
    event(3, { type: 'step:start', stepName: 'fetch', stepIndex: 0 }),
    event(4, { type: 'step:complete', stepName: 'fetch', stepIndex: 0, duration: 7 }),
    event(5, { type: 'step:start', stepName: 'store', stepIndex: 1 }),
    event(6, { type: 'run:reclaim' }),
    event(7, { type: 'run:start', workerId: 'b' }),
    event(8, { type: 'step:fail', stepName: 'store', stepIndex: 1, error: 'no', willRetry: false }),
    event(9, { type: 'run:fail', error: 'no' }),
    event(10, { type: 'run:retry' }),
    event(11, { type: 'run:start', workerId: null }),
    event(12, { type: 'log:write', level: 'info', message: 'hello', stepName: null }),
  ])
  expect(triggeredAt).toBe(at(1))
  expect(stretches.map(({ workerId, end, open }) => ({ workerId, end, open }))).toEqual([
    { workerId: 'a', end: 'its worker was lost: taken back for another one', open: ['store'] },
    { workerId: 'b', end: 'failed: no', open: [] },
    { workerId: null, end: null, open: [] },
  ])
  expect(stretches[0]?.entries).toEqual([{ kind: 'step', name: 'fetch', at: at(4), durationMs: 7, error: null, willRetry: false }])
  expect(stretches[2]?.entries).toEqual([{ kind: 'log', at: at(12), level: 'info', message: 'hello', stepName: null }])
  expect(between).toEqual([{ at: at(10), what: 'put back by retry', beforeStretch: 2 }])
})
