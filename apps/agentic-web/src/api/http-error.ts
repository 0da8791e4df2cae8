// Errors of the API: `{ error: { code, message } }`, with a status.
import { DurablyError } from '@coji/durably'
import { isOutage } from '../db/outage.ts'
import type { ApiErrorBody, ApiErrorCode } from '../wire/service.ts'

const STATUS = {
  invalid_request: 400,
  invalid_cursor: 400,
  invalid_link: 400,
  state_unknown: 400,
  state_mismatch: 400,
  state_used: 400,
  state_expired: 400,
  provider_error: 400,
  signed_out: 401,
  wrong_password: 401,
  cross_origin: 403,
  not_a_user: 403,
  not_found: 404,
  already_ended: 409,
  already_decided: 409,
  approval_expired: 409,
  not_ended: 409,
  not_failed: 409,
  idempotency_conflict: 409,
  cursor_ahead: 409,
  version_mismatch: 412,
  too_large: 413,
  if_match_required: 428,
  too_many_runs: 429,
  too_many_streams: 429,
  too_many_attempts: 429,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
} as const satisfies Record<ApiErrorCode, number>

export class HttpError extends Error {
  readonly code: ApiErrorCode
  /** When asking again makes sense. */
  readonly retryAfterMs: number | undefined

  constructor(code: ApiErrorCode, message: string, retryAfterMs?: number) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

export function statusOf(code: ApiErrorCode): number {
  return STATUS[code]
}

export function notFound(what: string): HttpError {
  return new HttpError('not_found', `there is no such ${what}`)
}

export function errorResponse(error: unknown, report: (error: unknown) => void): Response {
  const known = error instanceof HttpError ? error : ofEngine(error)
  if (!known) report(error)
  const { code, message, retryAfterMs } = known ?? new HttpError('internal', 'something went wrong in the server; its log says what')
  const body: ApiErrorBody = { error: { code, message } }
  const headers = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }
  return Response.json(body, { status: statusOf(code), headers })
}

/** What the engine says of a request for events. */
const OF_STREAMS: Readonly<Record<string, ApiErrorCode>> = {
  invalid_argument: 'invalid_cursor',
  cursor_ahead: 'cursor_ahead',
  run_not_found: 'not_found',
  run_deleted: 'not_found',
  too_many_streams: 'too_many_streams',
}

/** Throws what a request for events is answered with. */
export function refuseStream(error: unknown): never {
  const code = error instanceof DurablyError ? OF_STREAMS[error.code] : undefined
  throw code ? new HttpError(code, (error as DurablyError).message) : error
}

function ofEngine(error: unknown): HttpError | undefined {
  if (isOutage(error)) return new HttpError('unavailable', 'the database cannot be reached at the moment; try again', 1000)
  return undefined
}
