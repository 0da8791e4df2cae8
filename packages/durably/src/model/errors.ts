// The errors a user can meet. `code` is documented API; the message says what to do.

/** All error codes. The names are stable, and the message of each error says what to do. */
export interface ErrorCodes {
  // what the caller passed
  /** An option of `createDurably` or `sqlite` is wrong or missing; the message names it. */
  invalid_config: true
  /** A job name, step name or key is empty, over 512 bytes, or contains NUL or a lone surrogate. */
  invalid_name: true
  /** The input does not match the job's schema; nothing was stored. */
  invalid_input: true
  /** An argument of a call is invalid; the message names it. */
  invalid_argument: true
  /** A value contains a function, symbol, cycle or class instance; the message names the path. */
  value_not_serializable: true
  /** A value is over `maxValueBytes`; store it elsewhere and keep a reference. */
  value_too_large: true
  /** Durably does not support this dialect, or its SQLite is too old. */
  unknown_dialect: true
  // what the job did
  /** A job of this name is already defined on this instance. */
  duplicate_job: true
  /** A step of this name was already called in this run; give each step its own name. */
  duplicate_step: true
  /** The job's return value does not match its output schema; the run failed. */
  output_invalid: true
  /** A step was called, or a chunk emitted, after the job or the step had ended; await everything. */
  context_closed: true
  /** A call that may wait (`sleep`, `waitFor`, `invoke`, a step with `retry`) was made inside a step; call it beside the step. */
  nested_step: true
  /** `triggerAndWait` was called inside a job of the same instance, whose slot it would hold; use `ctx.invoke`. */
  nested_wait: true
  // what became of a run
  /** There is no run with this id. */
  run_not_found: true
  /** Only a failed run can be retried. If the run completed or was cancelled, trigger a new one; if it has not ended, `explain()` says what it waits for. */
  run_not_retryable: true
  /** The run, or the run that triggered it, has not ended; wait for that, or cancel it, before you delete the run. */
  run_active: true
  /** The awaited run failed; `cause` has its failure. */
  run_failed: true
  /** The awaited run was cancelled. */
  run_cancelled: true
  /** The run was deleted while a call or a subscription waited for it. */
  run_deleted: true
  /** A file of the archive with a part of the run's history is missing or damaged. `firstSequence` is the first event after that part. */
  archive_gone: true
  /** The run has ended and cannot receive the signal. */
  run_ended: true
  /** The run already has a signal of this name; the first one counts. */
  signal_taken: true
  /** The run or the schedule does not have the version `ifVersion` any more; nothing was changed. Read it again. `expected` and `actual` have both. */
  version_mismatch: true
  /** Over HTTP: the idempotency key was used before, with another input; use a new one. */
  idempotency_conflict: true
  /** `after` is beyond the end of the run's log: it belongs to another run or another database. */
  cursor_ahead: true
  /** The run did not end within `timeout`; it continues, see `getRun`. In a job: no signal came in time. */
  wait_timeout: true
  /** `subscribe` needs the event log, but `eventLog` is false. */
  event_log_off: true
  /** The run lost its worker too often without recording a step; it failed, `retry` starts the count again. */
  crash_loop: true
  /** Only in `worker:error`: a run has held its slot for longer than a lease and may never end by itself; the message says what it waits for. */
  run_stuck: true
  // what became of a schedule
  /** There is no schedule with this id. */
  schedule_not_found: true
  /** No worker of this name is in the register. */
  worker_not_found: true
  /** Another process is in the register under the same `workerId`; give each its own. */
  worker_id_taken: true
  /** The store of this instance keeps no schedules. */
  schedules_unsupported: true
  /** The store of this instance has no inbox. */
  inbox_unsupported: true
  /** Only in `worker:error`: this process fired schedules, and another one took over because it was silent for too long. Nothing was done twice. */
  leader_deposed: true
  // why an execution was interrupted (`ctx.signal.reason`)
  /** Reason of `ctx.signal`: the run was asked to stop. */
  cancel_requested: true
  /** Reason of `ctx.signal`: another worker owns the run now, or the database could not be reached for a whole lease. */
  lease_lost: true
  /** Reason of `ctx.signal`: the worker is stopping and gives the run back. */
  shutdown: true
  /** Reason of `ctx.signal`: the timeout of the step or the job, or the deadline of the run, passed. */
  timeout: true
  /** Reason of `ctx.signal`: the run gives its slot back while it waits, and is resumed later. */
  parked: true
  /** Reason of `ctx.signal`: the job threw while this step was executing; the run fails without its result. */
  job_failed: true
  // errors of the store
  /** The database was locked for too long; look for long transactions of other programs. */
  store_busy: true
  /** The database could not be reached or gave an unexpected answer; `cause` has its error. */
  store_unavailable: true
  /** The database or its disk is full; the worker continues when there is space. */
  store_full: true
  /** The database cannot be written; check the permissions of the file and its folder. */
  store_readonly: true
  /** The file is damaged or is not an SQLite database; the worker stops rather than write to it. */
  store_corrupt: true
  /** The SQLite file was deleted, moved or replaced while the process used it. Nothing more is acknowledged, and the worker stops: put the file back and restart. */
  store_gone: true
  /** The database rejected the data; repeating the call would not help. */
  store_rejected: true
  /** The instance was disposed; create a new one. */
  store_closed: true
  /** SQLocal could not open its file on OPFS, so a reload would lose all data; the message says why. `allowMemory: true` accepts it. */
  store_in_memory: true
  /** `ctx.transaction` and `trigger({ tx })` need a database; this store has none. */
  transaction_unsupported: true
  /** The transaction took too long and was rolled back; keep it short. */
  transaction_timeout: true
  /** `ctx` or the instance was called inside `ctx.transaction`: use `trx` and `{ tx: trx }`, or call it before or after. A `COMMIT` or `ROLLBACK` of your own is refused there too. */
  transaction_open: true
  /** The tables are missing or outdated; call `await durably.migrate()` first. */
  not_migrated: true
  /** The database was migrated by a newer version of Durably that does not support this one; update this process. */
  schema_too_new: true
  /** A stored row cannot be read; repair it or delete the run. */
  row_unreadable: true
  /** Only in `worker:error`: processes cannot wake each other, so changes are found by polling; the message says why. Behind a pooler, pass `listenUrl` to `postgres()`. */
  notifications_unavailable: true
  /** The browser froze the tab that has the database open (`browserDialect`). It ends when that tab is shown or closed. */
  host_frozen: true
  /** The files of the archive cannot be reached or written; `cause` has the error. Nothing is deleted, and it is tried again. */
  archive_unavailable: true
  // what a server refused, or a client met on the way to it
  /** The server has no job of this name. */
  job_not_found: true
  /** The server's `authorize` did not return true. */
  forbidden: true
  /** The server has no such path. */
  not_found: true
  /** The path does not support this method. */
  method_not_allowed: true
  /** A body must be `application/json`. */
  unsupported_media_type: true
  /** The body is over the server's `maxBodyBytes`. */
  body_too_large: true
  /** The body is not a valid JSON object, or is nested too deep. */
  invalid_json: true
  /** The caller has reached its limit of open streams. */
  too_many_streams: true
  /** A page of another site tried to change something; see `allowedOrigins`. */
  cross_site: true
  /** The server met an unexpected error, which was passed to its `onError`. */
  internal: true
  /** The server did not answer, or the answer was not from a Durably server; the request may have taken effect. */
  server_unreachable: true
}

/** A code of a `DurablyError`: one of the names of `ErrorCodes`. */
export type ErrorCode = keyof ErrorCodes

/** Every error that Durably itself throws. Compare its `code`, not its message. */
export class DurablyError extends Error {
  /** What went wrong; see `ErrorCodes`. */
  readonly code: ErrorCode
  /** The run that the error is about, if there is one. */
  readonly runId: string | undefined
  /** Of `version_mismatch`: the version that was asked for. */
  declare readonly expected?: number
  /** Of `version_mismatch`: the version that there is. */
  declare readonly actual?: number
  /** With the code `archive_gone`: the `sequence` of the first event that is left. Subscribe `after` the one before it. */
  declare readonly firstSequence?: number

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { runId?: string }) {
    super(message, options)
    this.name = 'DurablyError'
    this.code = code
    this.runId = options?.runId
  }
}

/** For what a job threw: even `instanceof` runs code of its operand. */
export function hasCode(thrown: unknown, code: ErrorCode): boolean {
  try {
    return thrown instanceof DurablyError && thrown.code === code
  } catch {
    return false
  }
}

/** The database is corrupt: more writes could do more harm. */
export function isBroken(error: unknown): boolean {
  return hasCode(error, 'store_corrupt') || hasCode(error, 'store_gone')
}

/** Store errors that pass: the same call may be sent again (rules R3 and R6). */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'store_busy',
  'store_unavailable',
  'store_full',
  'store_readonly',
  'host_frozen',
  'archive_unavailable',
])

export function isPassing(error: unknown): boolean {
  return error instanceof DurablyError && PASSING.has(error.code)
}
