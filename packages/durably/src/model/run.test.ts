import { describe, expect, test } from 'vitest'
import { jsonCodec } from './codec.ts'
import { DurablyError } from './errors.ts'
import { type RunRow, toRun } from './run.ts'
import type { StepRow } from './step.ts'
import { toStep } from './to-step.ts'

const codec = jsonCodec()

function runRow(given: Partial<RunRow> = {}): RunRow {
  return {
    id: 'run',
    jobName: 'job',
    payload: '{"a":1}',
    status: 'pending',
    idempotencyKey: null,
    concurrencyKey: null,
    holdKey: false,
    preferWorkerId: null,
    labels: null,
    currentStepIndex: 0,
    progress: null,
    streams: null,
    effects: null,
    output: null,
    error: null,
    failure: null,
    reason: null,
    heartbeatAt: '2026-01-01T00:00:00.000Z',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    version: 0,
    runAt: 0,
    leaseGeneration: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    leaseWrites: 0,
    cancelRequestedAt: null,
    recoveries: 0,
    attempts: 0,
    deadlineAt: null,
    retryGeneration: 0,
    waitingFor: null,
    signals: 0,
    parentRunId: null,
    parentStep: null,
    startedAt: null,
    finishedAt: null,
    scheduleId: null,
    scheduledFor: null,
    unchecked: false,
    lastEventSequence: 1,
    logRef: null,
    workerId: null,
    confirmMs: null,
    continuationState: null,
    continuationCheckDeadlineAt: null,
    assignedWorkerId: null,
    assignedAt: null,
    assignCount: 0,
    leaderEpoch: null,
    ...given,
  }
}

function stepRow(given: Partial<StepRow> = {}): StepRow {
  return {
    id: 'step',
    runId: 'run',
    name: 'load',
    index: 0,
    status: 'completed',
    output: null,
    error: null,
    failure: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    completedAt: '2026-01-01T00:00:01.000Z',
    leaseGeneration: 1,
    ...given,
  }
}

describe('toRun', () => {
  test('decodes values, turns times into ISO-8601 and leaves the words of the lease out', () => {
    const row = runRow({
      status: 'running',
      leaseOwner: 'token',
      leaseExpiresAt: 10,
      startedAt: 5,
      cancelRequestedAt: 6,
      progress: '{"current":1,"total":2}',
    })
    const run = toRun(row, codec, 0)
    expect(run).toMatchObject({
      payload: { a: 1 },
      progress: { current: 1, total: 2 },
      phase: 'cancelling',
      startedAt: '1970-01-01T00:00:00.005Z',
      cancelRequestedAt: '1970-01-01T00:00:00.006Z',
      finishedAt: null,
      output: null,
    })
    expect(Object.keys(run).filter((key) => key.startsWith('lease'))).toStrictEqual([])
  })

  test('only a completed run has an output, and it may be undefined', () => {
    expect(toRun(runRow({ status: 'completed', output: '[1]' }), codec, 0).output).toStrictEqual([1])
    expect(toRun(runRow({ status: 'completed' }), codec, 0).output).toBeUndefined()
    expect(toRun(runRow({ status: 'failed', output: '[1]' }), codec, 0).output).toBeNull()
  })

  test('the time of 1970 is a time', () => {
    expect(toRun(runRow({ startedAt: 0 }), codec, 0).startedAt).toBe('1970-01-01T00:00:00.000Z')
  })

  test.each(['payload', 'progress', 'failure', 'output'] as const)('a broken %s is named', (column) => {
    const row = runRow({ status: 'completed', [column]: '{"a":' })
    expect(() => toRun(row, codec, 0)).toThrow(
      new DurablyError('row_unreadable', `run run: column ${column} cannot be read; repair the row or delete the run`),
    )
  })
})

describe('toStep', () => {
  test('decodes output and failure', () => {
    expect(toStep(stepRow({ output: '{"$durably":"bigint","value":"7"}' }), codec).output).toBe(7n)
    expect(toStep(stepRow(), codec).output).toBeUndefined()
    expect(toStep(stepRow({ failure: '{"name":"E","message":"m"}' }), codec).failure).toStrictEqual({ name: 'E', message: 'm' })
  })

  test.each(['output', 'failure'] as const)('a broken %s is named', (column) => {
    expect(() => toStep(stepRow({ [column]: 'x' }), codec)).toThrow(
      new DurablyError('row_unreadable', `step "load" of run run: column ${column} cannot be read; repair the row or delete the run`),
    )
  })
})
