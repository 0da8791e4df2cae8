import { DurablyError } from '../../model/errors.ts'
import type { RunRow } from '../../model/run.ts'
import { notStored } from '../not-stored.ts'
import type { Created, CreateOptions, NewRun } from '../runs.ts'
import type { Tables } from './tables.ts'

export function create(tables: Tables, runs: readonly NewRun[], { within }: CreateOptions = {}): Created[] {
  if (within !== undefined) throw new DurablyError('transaction_unsupported', 'trigger({ tx }) needs a database; this store has none')
  return runs.map((run) => createOne(tables, run))
}

function createOne(tables: Tables, run: NewRun): Created {
  const sentBefore = tables.records.get(run.id)
  if (sentBefore) return { run: { ...sentBefore.row }, created: true }
  const known = tables.known.find(run)
  if (known) return { run: { ...known.row }, created: false }
  if (run.parentToken !== null && tables.records.get(run.parentRunId ?? '')?.row.leaseOwner !== run.parentToken) throw notStored(run)
  const { row } = tables.insert(newRow(run, tables.nowMs), [{ type: 'run:trigger', payload: {}, createdAt: tables.nowIso }])
  return { run: { ...row }, created: true }
}

export function newRow(run: NewRun, nowMs: number): RunRow {
  const { id, jobName, payload, idempotencyKey, concurrencyKey, labels, createdAt, parentRunId, parentStep } = run
  const dueAt = run.runAt ?? nowMs + (run.delayMs ?? 0)
  const deadlineAt = run.deadlineMs === null ? run.deadlineAt : nowMs + run.deadlineMs
  return {
    id,
    jobName,
    payload,
    status: 'pending',
    idempotencyKey,
    concurrencyKey,
    labels,
    currentStepIndex: 0,
    progress: null,
    streams: null,
    effects: null,
    output: null,
    error: null,
    failure: null,
    reason: null,
    heartbeatAt: createdAt,
    createdAt,
    updatedAt: createdAt,
    version: 0,
    runAt: deadlineAt === null ? dueAt : Math.min(dueAt, Math.max(deadlineAt, nowMs)),
    leaseGeneration: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    leaseWrites: 0,
    cancelRequestedAt: null,
    recoveries: 0,
    attempts: 0,
    retryGeneration: 0,
    deadlineAt,
    waitingFor: null,
    signals: 0,
    parentRunId,
    parentStep,
    scheduleId: null,
    scheduledFor: null,
    startedAt: null,
    finishedAt: null,
    lastEventSequence: 0,
    logRef: null,
    workerId: null,
    confirmMs: null,
    continuationState: null,
    continuationCheckDeadlineAt: null,
    assignedWorkerId: null,
    assignedAt: null,
    assignCount: 0,
    leaderEpoch: null,
  }
}
