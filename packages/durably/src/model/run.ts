// Run — one execution of a job, from `trigger` to its end.
// `RunRow` is what a store keeps: values encoded, times that decide in ms, times that inform in ISO-8601.
// `Run` is what a user sees: values decoded, lease words left out.
import type { Codec } from './codec.ts'
import { iso } from './env.ts'
import { DurablyError } from './errors.ts'
import type { Failure } from './failure.ts'
import type { Labels } from './labels.ts'
import { type Phase, phase } from './phase.ts'
import { type WaitingFor, waitsOf } from './waiting-for.ts'

export const RUN_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
/**
 * The stored status of a run. `pending`: it waits for a worker, a time or a signal. `running`: a worker holds it. `completed`, `failed` and
 * `cancelled`: it has ended.
 */
export type RunStatus = (typeof RUN_STATUSES)[number]

export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies RunStatus[]
/** The status of a run that has ended. */
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly RunStatus[]).includes(status)
}

/**
 * Why a run failed. `error`: its code threw. `timeout`: its time or its deadline was over. `output_invalid`: its output does not match the
 * schema. `crash_loop`: it lost too many workers in a row. `unreadable`: its row cannot be read. `invalid_input`: its input, which was stored by
 * a process without the code of the job, does not match the schema.
 */
export type FailureReason = 'error' | 'timeout' | 'output_invalid' | 'crash_loop' | 'unreadable' | 'invalid_input'

/** A run as a store keeps it: values are encoded as text, and times that decide something are milliseconds on the store's clock. */
export interface RunRow {
  /** The id of the run, a ULID: greater than the ids of all earlier runs. */
  id: string
  /** The name of its job. */
  jobName: string
  /** Its input, encoded. */
  payload: string | null
  /** Its status. */
  status: RunStatus
  /** The key that makes a second trigger return this run. */
  idempotencyKey: string | null
  /** Of all runs with this key, at most one is `running`. */
  concurrencyKey: string | null
  /** Whether it keeps that key from its first claim until it has ended, also while it is pending. */
  holdKey: boolean
  /** The worker that is to execute it, if that one is there; null if any may. */
  preferWorkerId: string | null
  /** Its labels, a JSON object whose values are texts; null without labels. */
  labels: string | null
  /** The number of completed steps. */
  currentStepIndex: number
  /** What `ctx.progress` last reported, encoded. */
  progress: string | null
  /** Streams that were begun and not recorded, with their checkpoints (model/stream.ts). */
  streams: string | null
  /** Effects that were begun and not recorded (model/effect.ts). */
  effects: string | null
  /** What the job returned, encoded; null until it has completed. */
  output: string | null
  /** The message of the last failure. */
  error: string | null
  /** The whole last failure, encoded. */
  failure: string | null
  /** Why it failed; null unless its status is `failed`. */
  reason: FailureReason | null
  /** When its worker last claimed it or renewed its lease, as ISO-8601 text; before that, when it was triggered. */
  heartbeatAt: string
  /** When it was triggered, as ISO-8601 text. */
  createdAt: string
  /** When its row last changed, as ISO-8601 text. */
  updatedAt: string
  /** Grows with every transition. */
  version: number
  /** When it is due: it is not claimed before. */
  runAt: number
  /** Grows with every claim and is never reset. A write with a lower generation is refused. */
  leaseGeneration: number
  /** The token of the current claim, unique per claim; null when no worker holds the run. */
  leaseOwner: string | null
  /** When the lease expires; null when no worker holds the run. */
  leaseExpiresAt: number | null
  /** The number of the owner's last accepted write in this lease, so that a write that is sent twice takes effect once. */
  leaseWrites: number
  /** When a cancel was requested while it was running; null if none was. */
  cancelRequestedAt: number | null
  /** How many workers it has lost in a row without recording a new step. */
  recoveries: number
  /** How many attempts have failed since the last `retry()`, by an error or a timeout. */
  attempts: number
  /** The lease generation at the last `retry()`: failed steps up to it no longer count. */
  retryGeneration: number
  /** When it must have ended; null without a deadline. */
  deadlineAt: number | null
  /** What it waits for, encoded; null if it waits for nothing. */
  waitingFor: string | null
  /** How many signals were sent to it. */
  signals: number
  /** The run that triggered it; null if no run did. */
  parentRunId: string | null
  /** The step of its parent that triggered it. A step has at most one child. */
  parentStep: string | null
  /** The schedule that made it; null if none did. */
  scheduleId: string | null
  /** The slot of the schedule that it was made for; null if none, or if the schedule was triggered by hand. */
  scheduledFor: number | null
  /** When it was first claimed; null before that. */
  startedAt: number | null
  /** When it ended; null before that. */
  finishedAt: number | null
  /** The `seq` of its last event; 0 if there is none. */
  lastEventSequence: number
  /**
   * The files that hold the beginning of its history, oldest first, separated by spaces; empty if files may exist that are not in use yet,
   * null if there were never any.
   */
  logRef: string | null
  /** The worker that claimed it last; null before its first claim. */
  workerId: string | null
  /** How long its owner may be silent after the end of its lease before another worker takes the run, in milliseconds; null for not at all. */
  confirmMs: number | null
  /** `CONFIRMING`: its lease was over, and its owner may still come back. */
  continuationState: 'CONFIRMING' | null
  /** Until when the owner may come back; it is also the end of the lease then. */
  continuationCheckDeadlineAt: number | null
  /** The worker that a leader chose for it; null if none is chosen. */
  assignedWorkerId: string | null
  /** When a leader last chose a worker for it, since it was last put back to `pending`. It stays when that worker is taken away again. */
  assignedAt: number | null
  /** How often a leader has chosen a worker for it. */
  assignCount: number
  /** The epoch of the leader that chose its worker; null if none ever did. */
  leaderEpoch: number | null
  /** Whether the worker is to check its input: it was stored by a process without the code of its job. */
  unchecked: boolean
  /** The store's time when the row was read, if its clock is not that of the process. It is not stored. */
  readAt?: number
}

/** How far a run is, as `ctx.progress` reported it. */
export interface Progress {
  /** How much is done. */
  current: number
  /** How much there is in all, if that is known. */
  total?: number
  /** What the run is doing, for people. */
  message?: string
}

/** @inline */
interface RunFields {
  /** The id of the run, a ULID: ids of later runs are greater. */
  id: string
  /** The name of its job. */
  jobName: string
  /** The input, after its schema has checked it. */
  payload: unknown
  /** The status in more detail, for people: see `Phase`. */
  phase: Phase
  /** The idempotency key it was triggered with, or null. */
  idempotencyKey: string | null
  /** The concurrency key it was triggered with, or null. */
  concurrencyKey: string | null
  /** The labels it was triggered with, and those of the run that triggered it; `{}` without labels. */
  labels: Labels
  /** How many steps it has completed. */
  currentStepIndex: number
  /** What the job last reported with `ctx.progress`; null if nothing. */
  progress: Progress | null
  /** The message of the last failed attempt; null if none failed, or a later one succeeded. */
  error: string | null
  /** The whole error of the last failed attempt, with name, code, stack and cause; null if there is none. */
  failure: Failure | null
  /** Why it failed; null unless its status is `failed`. */
  reason: FailureReason | null
  /** When its worker last claimed it or renewed its lease; before that, when it was triggered. */
  heartbeatAt: string
  /** When it was triggered. */
  createdAt: string
  /** When its row last changed. */
  updatedAt: string
  /** When it first started; null before that. */
  startedAt: string | null
  /** When it ended; null before that. */
  finishedAt: string | null
  /** When a cancel was requested while it was executing; null if none was. */
  cancelRequestedAt: string | null
  /** How many workers it has lost in a row without recording a new step. */
  recoveries: number
  /** How many attempts have failed since it was triggered or last retried with `retry()`. */
  attempts: number
  /**
   * When it is due: for its first start, its next attempt, or the end of a sleep. If it waits for something without a time limit, this is
   * in the year 9999.
   */
  runAt: string
  /** When it must have ended; null without a deadline. */
  deadlineAt: string | null
  /**
   * What it waits for; absent while it executes and when it has ended. If it waits for several things, the first one that needs somebody to
   * act.
   */
  waitingFor?: WaitingFor
  /** The run that triggered it; null if no run did. */
  parentRunId: string | null
  /** The schedule that it belongs to; null without one. */
  scheduleId: string | null
  /** The time of the schedule that it was created for; null without a schedule, and if the schedule was triggered by hand. */
  scheduledFor: string | null
  /** The worker that executes it, or did so last: its option `workerId`. Null before it first starts. */
  workerId: string | null
  /**
   * Grows with every transition, such as a claim, a wait, a requested cancel or the end, but not with a step. Pass it as `ifVersion` to
   * change the run only if it had no transition since.
   */
  version: number
  /** The `sequence` of its last event. Subscribe `after` it to get only what comes later. */
  lastEventSequence: number
}

/** A run as programs see it: values are decoded, and times are ISO-8601 text. The types of `output` and `error` follow from `status`. */
export type Run<TOutput = unknown> = RunFields &
  (
    | { status: 'completed'; output: TOutput }
    | { status: 'failed'; output: null; error: string }
    | { status: 'pending' | 'running' | 'cancelled'; output: null }
  )

export function toRun<TOutput>(row: RunRow, codec: Codec, nowMs: number): Run<TOutput> {
  const [waitingFor] = waitsOf(row, nowMs)
  const run: RunFields & { status: RunStatus; output: unknown } = {
    id: row.id,
    jobName: row.jobName,
    payload: readColumn(row, 'payload', codec),
    status: row.status,
    phase: phase(row, nowMs),
    idempotencyKey: row.idempotencyKey,
    concurrencyKey: row.concurrencyKey,
    labels: (readColumn(row, 'labels', codec) as Labels | undefined) ?? {},
    currentStepIndex: row.currentStepIndex,
    progress: (readColumn(row, 'progress', codec) as Progress | undefined) ?? null,
    output: row.status === 'completed' ? readColumn(row, 'output', codec) : null,
    error: row.error,
    failure: (readColumn(row, 'failure', codec) as Failure | undefined) ?? null,
    reason: row.reason,
    heartbeatAt: row.heartbeatAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
    cancelRequestedAt: isoOrNull(row.cancelRequestedAt),
    recoveries: row.recoveries,
    attempts: row.attempts,
    runAt: iso(row.runAt),
    deadlineAt: isoOrNull(row.deadlineAt),
    parentRunId: row.parentRunId,
    scheduleId: row.scheduleId,
    scheduledFor: isoOrNull(row.scheduledFor),
    workerId: row.workerId,
    version: row.version,
    lastEventSequence: row.lastEventSequence,
    ...(waitingFor && { waitingFor }),
  }
  return run as Run<TOutput>
}

/** If it is the same for two reads of a run, the run has not changed. It has the phase, because a phase may change by time alone. */
export function printOf(run: RunRow | Run, phase = (run as Run).phase): string {
  return `${run.id} ${run.version} ${run.updatedAt} ${run.lastEventSequence} ${phase}`
}

export function readColumn<C extends 'payload' | 'labels' | 'progress' | 'output' | 'failure'>(
  row: Pick<RunRow, 'id'> & { [column in C]?: string | null },
  column: C,
  codec: Codec,
): unknown {
  try {
    return codec.decode(row[column] ?? null)
  } catch (cause) {
    throw new DurablyError('row_unreadable', `run ${row.id}: column ${column} cannot be read; repair the row or delete the run`, { cause })
  }
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
