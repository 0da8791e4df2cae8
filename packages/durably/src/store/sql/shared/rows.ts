// Rows as the database returns them, checked and renamed. A value that cannot be read is an error that names the row and the column.
import { DurablyError } from '../../../model/errors.ts'
import { EVENT_TYPES, type EventRow } from '../../../model/event.ts'
import { type FailureReason, RUN_STATUSES, type RunRow } from '../../../model/run.ts'
import type { StepRow } from '../../../model/step.ts'
import type { Row } from './session.ts'

export function runRow(row: Row): RunRow {
  const read = reader('run', row.id, row)
  const run = runFrom(read)
  if (row.read_at !== undefined) run.readAt = read.integer('read_at')
  return run
}

/** The columns of a run, in the order of `runOfArray`: found by letting `runFrom` read a run of which every column has something. */
export const RUN_COLUMNS: string[] = []
runFrom(
  readerOf('run', '', (column) => {
    if (!RUN_COLUMNS.includes(column)) RUN_COLUMNS.push(column)
    return column === 'status' ? 'pending' : '0'
  }),
)
const places = new Map(RUN_COLUMNS.map((column, place) => [column, place]))

export function runOfArray(values: readonly unknown[]): RunRow {
  return runReadBy(values[0], (column) => values[places.get(column) ?? -1])
}

/** The run of which `at` knows the columns. */
export function runReadBy(id: unknown, at: (column: string) => unknown): RunRow {
  return runFrom(readerOf('run', id, at))
}

function runFrom(read: Reader): RunRow {
  return {
    id: read.text('id'),
    jobName: read.text('job_name'),
    payload: read.textOrNull('payload'),
    status: read.oneOf('status', RUN_STATUSES),
    idempotencyKey: read.textOrNull('idempotency_key'),
    concurrencyKey: read.textOrNull('concurrency_key'),
    holdKey: read.integerOrNull('hold_key') === 1,
    preferWorkerId: read.textOrNull('prefer_worker_id'),
    labels: read.textOrNull('labels'),
    currentStepIndex: read.integer('current_step_index'),
    progress: read.textOrNull('progress'),
    streams: read.textOrNull('streams'),
    effects: read.textOrNull('effects'),
    output: read.textOrNull('output'),
    error: read.textOrNull('error'),
    failure: read.textOrNull('failure'),
    reason: read.textOrNull('reason') as FailureReason | null,
    heartbeatAt: read.text('heartbeat_at'),
    createdAt: read.text('created_at'),
    updatedAt: read.text('updated_at'),
    version: read.integer('version'),
    runAt: read.integer('run_at'),
    leaseGeneration: read.integer('lease_generation'),
    leaseOwner: read.textOrNull('lease_owner'),
    leaseExpiresAt: read.integerOrNull('lease_expires_at'),
    leaseWrites: read.integer('lease_writes'),
    cancelRequestedAt: read.integerOrNull('cancel_requested_at'),
    recoveries: read.integer('recoveries'),
    attempts: read.integer('attempts'),
    retryGeneration: read.integer('retry_generation'),
    deadlineAt: read.integerOrNull('deadline_at'),
    waitingFor: read.textOrNull('waiting_for'),
    signals: read.integer('signals'),
    parentRunId: read.textOrNull('parent_run_id'),
    parentStep: read.textOrNull('parent_step'),
    scheduleId: read.textOrNull('schedule_id'),
    scheduledFor: read.integerOrNull('scheduled_for'),
    startedAt: read.integerOrNull('started_at'),
    finishedAt: read.integerOrNull('finished_at'),
    lastEventSequence: read.integer('last_event_sequence'),
    logRef: read.textOrNull('log_ref'),
    workerId: read.textOrNull('worker_id'),
    confirmMs: read.integerOrNull('confirm_ms'),
    continuationState: read.textOrNull('continuation_state') as RunRow['continuationState'],
    continuationCheckDeadlineAt: read.integerOrNull('continuation_check_deadline_at'),
    assignedWorkerId: read.textOrNull('assigned_worker_id'),
    assignedAt: read.integerOrNull('assigned_at'),
    assignCount: read.integer('assign_count'),
    leaderEpoch: read.integerOrNull('leader_epoch'),
    unchecked: read.integerOrNull('unchecked') === 1,
  }
}

export function stepRow(row: Row): StepRow {
  const read = reader('step', row.id, row)
  return {
    id: read.text('id'),
    runId: read.text('run_id'),
    name: read.text('name'),
    index: read.integer('index'),
    status: read.oneOf('status', ['completed', 'failed'] as const),
    output: read.textOrNull('output'),
    error: read.textOrNull('error'),
    failure: read.textOrNull('failure'),
    startedAt: read.text('started_at'),
    completedAt: read.textOrNull('completed_at'),
    leaseGeneration: read.integer('lease_generation'),
  }
}

export function eventRow(row: Row): EventRow {
  const read = reader('event', `${row.run_id}/${row.seq}`, row)
  return {
    runId: read.text('run_id'),
    seq: read.integer('seq'),
    type: read.oneOf('event_type', EVENT_TYPES),
    payload: read.text('payload'),
    createdAt: read.text('created_at'),
  }
}

export function reader(what: string, id: unknown, row: Row): Reader {
  return readerOf(what, id, (column) => row[column])
}

type Reader = ReturnType<typeof readerOf>

function readerOf(what: string, id: unknown, at: (column: string) => unknown) {
  function unreadable(column: string): DurablyError {
    const value = at(column)
    if (value === undefined) return new DurablyError('not_migrated', `no column ${column}: call await durably.migrate() first`)
    const found = JSON.stringify(String(value)).slice(0, 100)
    return new DurablyError(
      'row_unreadable',
      `${what} ${String(id)}: column ${column} holds ${found}; repair the row or delete the ${what === 'schedule' ? what : 'run'}`,
    )
  }
  function text(column: string): string {
    const value = at(column)
    if (typeof value !== 'string') throw unreadable(column)
    return value
  }
  /** A driver may be set to answer with bigints or texts. */
  function integer(column: string): number {
    const value = at(column)
    const number = typeof value === 'bigint' || typeof value === 'string' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw unreadable(column)
    return number
  }
  return {
    text,
    integer,
    textOrNull: (column: string) => (at(column) === null ? null : text(column)),
    integerOrNull: (column: string) => (at(column) === null ? null : integer(column)),
    oneOf<T extends string>(column: string, values: readonly T[]): T {
      const value = at(column) as T
      if (!values.includes(value)) throw unreadable(column)
      return value
    },
  }
}
