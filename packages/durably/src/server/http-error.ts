// Errors as responses: `{ error: { code, message } }`, and with another version both versions. This is the one place that maps codes to HTTP statuses.
import { DurablyError, type ErrorCode, isPassing } from '../model/errors.ts'
import { jsonResponse } from './json-response.ts'

/** Errors that a caller can do something about. Any other is `internal`, because its message may disclose details of the server. */
const STATUS: { readonly [code in ErrorCode]?: number } = {
  invalid_argument: 400,
  invalid_input: 400,
  invalid_json: 400,
  invalid_name: 400,
  value_not_serializable: 400,
  cross_site: 403,
  forbidden: 403,
  job_not_found: 404,
  not_found: 404,
  run_not_found: 404,
  schedule_not_found: 404,
  worker_not_found: 404,
  method_not_allowed: 405,
  cursor_ahead: 409,
  event_log_off: 409,
  idempotency_conflict: 409,
  run_active: 409,
  run_ended: 409,
  run_not_retryable: 409,
  signal_taken: 409,
  archive_gone: 410,
  run_deleted: 410,
  version_mismatch: 412,
  body_too_large: 413,
  value_too_large: 413,
  unsupported_media_type: 415,
  too_many_streams: 429,
  schedules_unsupported: 501,
  inbox_unsupported: 501,
  shutdown: 503,
}

const RETRY_AFTER = { 'Retry-After': '1' }

export function errorResponse(error: unknown, report: (error: unknown) => void, headers?: Record<string, string>): Response {
  if (error instanceof DurablyError) {
    const status = STATUS[error.code]
    if (status !== undefined) return refusal(status, error, { ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...headers })
  }
  report(error)
  if (error instanceof DurablyError && error.code === 'store_rejected')
    return refusal(400, { code: error.code, message: 'the database cannot store what was sent' })
  if (error instanceof DurablyError && (isPassing(error) || error.code === 'store_gone' || error.code === 'store_closed'))
    return refusal(503, { code: error.code, message: 'the database cannot be used right now; try again' }, RETRY_AFTER)
  return refusal(500, { code: 'internal', message: 'something went wrong on the server; its log has the error' })
}

type Refused = Pick<DurablyError, 'code' | 'message' | 'expected' | 'actual' | 'firstSequence'>

function refusal(status: number, refused: Refused, headers?: Record<string, string>): Response {
  const { code, message, expected, actual, firstSequence } = refused
  const error = {
    ...{ code, message },
    ...(expected !== undefined && { expected, actual }),
    ...(firstSequence !== undefined && { firstSequence }),
  }
  return jsonResponse(status, { error }, headers)
}
