// Answers about the service itself, and the form of all errors.

/** `GET /api/health`: 200 while the process lives. */
export interface HealthView {
  ok: true
  role: string
  database: 'postgres' | 'sqlite'
}

/** `GET /api/ready`: 200 if the database can be reached and has its tables, otherwise 503. */
export interface ReadyView {
  ready: boolean
  reason?: string
}

/** The body of every answer with a status of 400 or more. */
export interface ApiErrorBody {
  error: { code: ApiErrorCode; message: string }
}

export type ApiErrorCode =
  | 'invalid_request'
  | 'invalid_cursor'
  | 'not_found'
  | 'already_ended'
  | 'already_decided'
  | 'approval_expired'
  | 'not_ended'
  | 'not_failed'
  | 'idempotency_conflict'
  | 'cursor_ahead'
  | 'version_mismatch'
  | 'if_match_required'
  | 'too_large'
  | 'too_many_runs'
  | 'too_many_streams'
  | 'cross_origin'
  | 'signed_out'
  | 'wrong_password'
  | 'invalid_link'
  | 'state_unknown'
  | 'state_mismatch'
  | 'state_used'
  | 'state_expired'
  | 'provider_error'
  | 'not_a_user'
  | 'too_many_attempts'
  | 'too_many_requests'
  | 'unavailable'
  | 'internal'
