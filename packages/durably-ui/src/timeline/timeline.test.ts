import { expect, test } from 'vitest'
import type { Fact } from './fact.ts'
import { timelineOf } from './timeline.ts'

const start = (at: number, workerId: string): Fact => ({ at, kind: 'start', workerId })
const stepStart = (at: number, step: string, index = 0): Fact => ({ at, kind: 'step start', step, index })
const stepEnd = (at: number, step: string, index = 0, tookMs = 0): Fact => ({ at, kind: 'step end', step, index, tookMs })

test('a run without facts has no span', () => {
  expect(timelineOf([])).toEqual({ span: null, turns: [], steps: [] })
})

test('a run that one worker completed is one turn, and its steps are in the order of their calls', () => {
  const { span, turns, steps } = timelineOf([
    start(10, 'a'),
    stepStart(11, 'second', 1),
    stepStart(12, 'first', 0),
    stepEnd(15, 'first', 0),
    stepEnd(18, 'second', 1),
    { at: 20, kind: 'end', how: 'completed' },
  ])
  expect(span).toEqual({ from: 10, to: 20 })
  expect(turns).toMatchObject([{ workerId: 'a', from: 10, to: 20, end: 'completed', tookOverFrom: null }])
  expect(steps.map(({ name }) => name)).toEqual(['first', 'second'])
  expect(steps[1]?.attempts).toMatchObject([{ from: 11, to: 18, outcome: 'completed', turn: 0 }])
})

test('a worker that was lost is silent from its last sign of life, and the next one took the run over from it', () => {
  const { turns, steps } = timelineOf([
    start(0, 'a'),
    stepStart(5, 'charge'),
    { at: 8, kind: 'sign of life' },
    { at: 40, kind: 'end', how: 'lost' },
    start(45, 'b'),
    stepStart(46, 'charge'),
    stepEnd(50, 'charge'),
    { at: 51, kind: 'end', how: 'completed' },
  ])
  expect(turns).toMatchObject([
    { workerId: 'a', to: 40, end: 'lost', lastSeen: 8, tookOverFrom: null },
    { workerId: 'b', from: 45, end: 'completed', tookOverFrom: { workerId: 'a' } },
  ])
  expect(steps[0]?.attempts).toMatchObject([
    { from: 5, to: 8, outcome: 'interrupted', turn: 0 },
    { from: 46, to: 50, outcome: 'completed', turn: 1 },
  ])
})

test('a start while another worker seems to hold the run is a take-over, too', () => {
  const { turns } = timelineOf([start(0, 'a'), start(9, 'b')])
  expect(turns).toMatchObject([
    { end: 'lost', to: 9 },
    { end: null, to: null, tookOverFrom: { workerId: 'a' } },
  ])
})

test('a wait ends a turn, and the same worker goes on without having taken anything over', () => {
  const { turns } = timelineOf([start(0, 'a'), { at: 3, kind: 'end', how: 'waiting' }, start(90, 'a')])
  expect(turns).toMatchObject([
    { end: 'waiting', lastSeen: 3 },
    { from: 90, tookOverFrom: null, to: null },
  ])
})

test('a step that was only recorded, such as a sleep, begins where its duration says', () => {
  const { steps, span } = timelineOf([start(100, 'a'), stepEnd(120, 'sleep', 0, 50)])
  expect(steps[0]?.attempts).toMatchObject([{ from: 70, to: 120, outcome: 'completed' }])
  expect(span).toEqual({ from: 70, to: 120 })
})

test('a failed attempt of a step says whether it is tried again', () => {
  const { steps } = timelineOf([
    start(0, 'a'),
    stepStart(1, 'pull'),
    { at: 2, kind: 'step fail', step: 'pull', index: 0, error: '502', willRetry: true },
    stepStart(3, 'pull'),
    { at: 4, kind: 'step fail', step: 'pull', index: 0, error: '503', willRetry: false },
  ])
  expect(steps[0]?.attempts).toMatchObject([
    { outcome: 'trying again', error: '502' },
    { outcome: 'failed', error: '503' },
  ])
})

test('a history that begins in the middle of a turn still shows its steps', () => {
  const { turns, steps } = timelineOf([stepStart(5, 'late'), stepEnd(6, 'late'), { at: 7, kind: 'end', how: 'completed' }])
  expect(turns).toEqual([])
  expect(steps[0]?.attempts).toMatchObject([{ from: 5, to: 6, turn: -1 }])
})
