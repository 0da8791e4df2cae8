// Run — one execution of a job, from `trigger` to its end.
// `RunRow` is what a store keeps: values encoded, times that decide in ms, times that inform in ISO-8601.
// `Run` is what a user sees: values decoded, lease words left out.
import type { Codec } from './codec.ts'
import { iso } from './env.ts'
import { DurablyError } from './errors.ts'
import type { Failure } from './failure.ts'
import { type Phase, phase } from './phase.ts'
import { type WaitingFor, waitsOf } from './waiting-for.ts'

export const RUN_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies RunStatus[]
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly RunStatus[]).includes(status)
}

/** Why a run failed: its own code, its time, its output, its workers dying, or a row that cannot be read. */
export type FailureReason = 'error' | 'timeout' | 'output_invalid' | 'crash_loop' | 'unreadable'

export interface RunRow {
  id: string
  jobName: string
  payload: string | null
  status: RunStatus
  idempotencyKey: string | null
  concurrencyKey: string | null
  /** The number of completed steps. */
  currentStepIndex: number
  progress: string | null
  /** Streams that were begun and not recorded, with their checkpoints (model/stream.ts). */
  streams: string | null
  /** Effects that were begun and not recorded (model/effect.ts). */
  effects: string | null
  output: string | null
  error: string | null
  failure: string | null
  reason: FailureReason | null
  heartbeatAt: string
  createdAt: string
  updatedAt: string
  /** Grows on every transition. */
  version: number
  /** Not claimable before. */
  runAt: number
  /** Grows on every claim, is never reset, stays on finished rows: the fence. */
  leaseGeneration: number
  /** Unique per claim, not the name of a worker: a worker may claim its own lost run again. */
  leaseOwner: string | null
  leaseExpiresAt: number | null
  /** The number of the owner's last accepted write in this lease, so that one sent twice counts once. */
  leaseWrites: number
  cancelRequestedAt: number | null
  /** Workers lost in a row without a newly recorded step. */
  recoveries: number
  /** Executions that ended in a throw or a timeout, since the last manual retry. */
  attempts: number
  /** The lease generation of the last manual retry: steps that failed up to it do not count any more. */
  retryGeneration: number
  /** When it must have ended. */
  deadlineAt: number | null
  /** What it is parked for (model/wait.ts). */
  waitingFor: string | null
  /** How many signals were sent to it. */
  signals: number
  parentRunId: string | null
  /** The step of its parent that triggered it: a step has one child. */
  parentStep: string | null
  startedAt: number | null
  finishedAt: number | null
  lastEventSequence: number
  /** The store's time when the row was read, where its clock is another than that of the process. Not kept. */
  readAt?: number
}

export interface Progress {
  current: number
  total?: number
  message?: string
}

interface RunFields {
  id: string
  jobName: string
  payload: unknown
  /** For people: `status`, refined by the other columns of the row. */
  phase: Phase
  idempotencyKey: string | null
  concurrencyKey: string | null
  currentStepIndex: number
  progress: Progress | null
  error: string | null
  failure: Failure | null
  reason: FailureReason | null
  heartbeatAt: string
  createdAt: string
  updatedAt: string
  startedAt: string | null
  finishedAt: string | null
  cancelRequestedAt: string | null
  recoveries: number
  attempts: number
  /** When it is due: for its first start, a retry or the end of a sleep. */
  runAt: string
  deadlineAt: string | null
  /** What it waits for; absent while it executes and when it has ended. Of several things the first that needs somebody to act. */
  waitingFor?: WaitingFor
  /** The run that triggered it. */
  parentRunId: string | null
  version: number
  /** The place of its last event in its log: subscribe `after` it to get what comes later. */
  lastEventSequence: number
}

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
    version: row.version,
    lastEventSequence: row.lastEventSequence,
    ...(waitingFor && { waitingFor }),
  }
  return run as Run<TOutput>
}

/** Two of one run with the same print are in the same state; some phases change with time alone: a sleep is over, a lease has run out. */
export function printOf(run: RunRow | Run, phase = (run as Run).phase): string {
  return `${run.id} ${run.version} ${run.updatedAt} ${run.lastEventSequence} ${phase}`
}

export function readColumn<C extends 'payload' | 'progress' | 'output' | 'failure'>(
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

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
