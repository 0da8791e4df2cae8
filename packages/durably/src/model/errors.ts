// The errors a user can meet. `code` is documented API; the message says what to do.

export type ErrorCode =
  // what the caller passed
  | 'invalid_config'
  | 'invalid_name'
  | 'invalid_input'
  | 'invalid_argument'
  | 'value_not_serializable'
  | 'value_too_large'
  | 'unknown_dialect'
  // what the job did
  | 'duplicate_job'
  | 'duplicate_step'
  | 'output_invalid'
  | 'context_closed'
  | 'nested_step'
  | 'nested_wait'
  // what became of a run
  | 'run_not_found'
  | 'run_not_retryable'
  | 'run_active'
  | 'run_failed'
  | 'run_cancelled'
  | 'run_deleted'
  | 'run_ended'
  | 'signal_taken'
  | 'version_mismatch'
  | 'idempotency_conflict'
  | 'cursor_ahead'
  | 'wait_timeout'
  | 'event_log_off'
  | 'crash_loop'
  | 'run_stuck'
  // why an execution was interrupted (`ctx.signal.reason`)
  | 'cancel_requested'
  | 'lease_lost'
  | 'shutdown'
  | 'timeout'
  | 'parked'
  | 'job_failed'
  // errors of the store
  | 'store_busy'
  | 'store_unavailable'
  | 'store_full'
  | 'store_readonly'
  | 'store_corrupt'
  | 'store_gone'
  | 'store_rejected'
  | 'store_closed'
  | 'store_in_memory'
  | 'transaction_unsupported'
  | 'transaction_timeout'
  | 'transaction_open'
  | 'not_migrated'
  | 'schema_too_new'
  | 'row_unreadable'
  | 'notifications_unavailable'
  | 'host_frozen'
  // what a server refused, or a client met on the way to it
  | 'job_not_found'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'invalid_json'
  | 'too_many_streams'
  | 'cross_site'
  | 'internal'
  | 'server_unreachable'

export class DurablyError extends Error {
  readonly code: ErrorCode
  /** The run it is about, where there is one. */
  readonly runId: string | undefined

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
const PASSING: ReadonlySet<ErrorCode> = new Set(['store_busy', 'store_unavailable', 'store_full', 'store_readonly', 'host_frozen'])

export function isPassing(error: unknown): boolean {
  return error instanceof DurablyError && PASSING.has(error.code)
}
