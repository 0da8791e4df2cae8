import type { RunRow } from '../model/run.ts'
import type { NewRun } from './runs.ts'

/** When a run that is stored at this time is due, and when it must have ended. */
export function timesOf(run: NewRun, nowMs: number): Pick<RunRow, 'runAt' | 'deadlineAt'> {
  const dueAt = run.runAt ?? nowMs + (run.delayMs ?? 0)
  const deadlineAt = run.deadlineMs === null ? run.deadlineAt : nowMs + run.deadlineMs
  return { runAt: deadlineAt === null ? dueAt : Math.min(dueAt, Math.max(deadlineAt, nowMs)), deadlineAt }
}

/** The row of a run that is stored at this time, without its events. */
export function newRow(run: NewRun, nowMs: number): RunRow {
  const { id, jobName, payload, idempotencyKey, concurrencyKey, holdKey, labels, createdAt, parentRunId, parentStep } = run
  const { runAt, deadlineAt } = timesOf(run, nowMs)
  return {
    id,
    jobName,
    payload,
    status: 'pending',
    idempotencyKey,
    concurrencyKey,
    holdKey,
    preferWorkerId: run.preferWorkerId ?? null,
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
    runAt,
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
    unchecked: run.unchecked ?? false,
  }
}
