import { describe, expect, it } from 'vitest'
import type { EventRow, EventType, RecordedPayload } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { History, StreamAttempt } from './history.ts'
import { StreamAudit } from './stream-audit.ts'
import { checkpointsHold, recordedStreamsAreWhole, textsAreReal } from './streams.ts'

const RUN = { id: 'run', jobName: 'job', payload: null, streams: null, currentStepIndex: 1 } as RunRow
const STEP = { id: 'step', runId: 'run', name: 's', index: 0, status: 'completed', output: null, leaseGeneration: 2 } as StepRow

type Logged = [type: EventType, payload: RecordedPayload]

const start = (generation: number): Logged => ['run:start', { generation }]
const reset = (to: number): Logged => ['stream:reset', { stepName: 's', to }]
const chunk = (generation: number, from: number, text: string): Logged => [
  'stream:chunk',
  { generation, stepName: 's', from, chunks: JSON.stringify([text]) },
]
const record: Logged = ['step:complete', { generation: 2, stepId: 'step' }]

/** The first put out "ab", with a checkpoint after "a"; the second goes on from there with "X". */
const FIRST = attempt(1, null, 'ab', { state: '1', length: 1, acknowledged: true })
const SECOND = attempt(2, '1', 'X')

describe('I20: a recorded stream is one chunk with all that its attempt had', () => {
  it('takes what a checkpoint kept and what came after it', () => {
    expect(recordedStreamsAreWhole(historyOf([start(1), start(2), chunk(2, 0, 'aX'), record]))).toEqual([])
  })

  it.each<[string, Logged[]]>([
    ['a chunk too many', [chunk(1, 0, 'a'), chunk(2, 0, 'aX'), record]],
    ['a reset that is left', [reset(1), chunk(2, 0, 'aX'), record]],
    ['no chunk', [record]],
    ['a doubled text', [chunk(2, 0, 'aaX'), record]],
    ['a hole', [chunk(2, 0, 'X'), record]],
  ])('accuses %s', (_, logged) => {
    expect(recordedStreamsAreWhole(historyOf(logged))).toMatchObject([{ invariant: 'I20' }])
  })
})

describe('I21: what can be seen of a stream is what an attempt had', () => {
  const FINE: Logged[] = [start(1), chunk(1, 0, 'a'), chunk(1, 1, 'b'), start(2), reset(1), chunk(2, 1, 'X')]

  it('follows a takeover', () => {
    expect(textsAreReal(historyOf(FINE))).toEqual([])
  })

  it.each<[string, Logged[]]>([
    ['a reset that keeps more than the checkpoint', [...FINE.slice(0, 4), reset(2)]],
    ['a reset that keeps less than was acknowledged', [...FINE.slice(0, 4), reset(0)]],
    ['a takeover that takes nothing back', FINE.slice(0, 4)],
    ['a chunk behind a hole', [start(1), chunk(1, 1, 'b')]],
    ['a chunk of a superseded attempt', [...FINE.slice(0, 5), chunk(1, 1, 'b')]],
    ['a chunk that nobody put out', [start(1), chunk(1, 0, 'c')]],
  ])('accuses %s', (_, logged) => {
    expect(textsAreReal(historyOf(logged))[0]).toMatchObject({ invariant: 'I21' })
  })

  it('compares a follower with a reader of the log that is left', () => {
    const audit = new StreamAudit([FIRST, SECOND])
    const all = historyOf([...FINE, chunk(2, 0, 'aX'), record])
    audit.look(all)
    const left = (...seqs: number[]) => ({ ...all, events: all.events.filter(({ seq }) => seqs.includes(seq)) })
    audit.compare(left(1, 4, 7, 8))
    expect(audit.violations).toEqual([])
    audit.compare(left(1, 7, 8))
    expect(audit.violations).toMatchObject([{ invariant: 'I4', what: 'events 4 were there and are gone' }])
  })
})

describe('I22: an acknowledged checkpoint holds', () => {
  const later = { state: '2', length: 2, acknowledged: false }

  it('lets an attempt go on from it or from a later one', () => {
    expect(checkpointsHold(historyOf([], [FIRST, SECOND]))).toEqual([])
    const first = { ...FIRST, checkpoints: [...FIRST.checkpoints, later] }
    expect(checkpointsHold(historyOf([], [first, attempt(2, '2', 'X')]))).toEqual([])
  })

  it('accuses an attempt that began before it, and a state that nobody had', () => {
    expect(checkpointsHold(historyOf([], [FIRST, attempt(2, null, 'X')]))).toMatchObject([{ invariant: 'I22' }])
    expect(checkpointsHold(historyOf([], [FIRST, attempt(2, '7', 'X')]))).toMatchObject([{ invariant: 'I22' }])
  })
})

function attempt(generation: number, given: string | null, text: string, ...checkpoints: StreamAttempt['checkpoints']): StreamAttempt {
  return { runId: 'run', step: 's', generation, given, text, checkpoints }
}

function historyOf(logged: Logged[], streams = [FIRST, SECOND]): History {
  const events = logged.map(([type, payload], i) => ({ runId: 'run', seq: i + 1, type, payload: JSON.stringify(payload) }) as EventRow)
  const ledger = { executions: [], effects: [], streams }
  return { runs: [RUN], steps: [STEP], events, ledger, acknowledged: [], maxRecoveries: 10, faultFree: false }
}
