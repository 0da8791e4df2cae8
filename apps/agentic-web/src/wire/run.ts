// Runs: one run answers one message of a session.
import type { RunErrorCode, Usage } from './event.ts'

/** `queued` also while it waits: for a worker, for an earlier run of its session, or until the model's server may be asked again. */
export type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

/** `POST /api/runs`, with the header `Idempotency-Key` if it may be sent twice. */
export interface NewRun {
  session_id: string
  /** Not empty, at most 100,000 characters. */
  message: string
}

/**
 * The answer: 201 for a new run, 200 if the same key was used before with the same body. Errors: 400 `invalid_request`, 404 `not_found` (the
 * session), 409 `idempotency_conflict`, 413 `too_large`, 429 `too_many_runs`.
 */
export interface AcceptedRun {
  run_id: string
  status: RunStatus
}

/** `GET /api/runs/:run_id`, and each item of the list. */
export interface RunView {
  run_id: string
  session_id: string
  status: RunStatus
  /** The message that it answers. */
  input_text: string
  /** The place of the message in its session, from 1. */
  turn: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** A cancel was asked for, and the worker has not stopped yet: show “Stopping…”. */
  cancel_requested_at: string | null
  error: RunError | null
  /** The worker that executes it, or did so last. */
  worker_id: string | null
  /** How often workers have begun or continued it. */
  attempts: number
  /** The `id:` of its last event so far. */
  last_seq: number
  /** Null until the run has begun. */
  model: RunModel | null
  /** Of all its calls of the model that are recorded. */
  usage: Usage
}

export interface RunError {
  code: RunErrorCode
  message: string
}

export interface RunModel {
  provider: string
  model: string
  is_demo: boolean
}

/** `GET /api/runs?session_id=…&statuses=queued,running&limit=20&before=<run_id>`: newest first. */
export interface RunList {
  runs: RunView[]
  /** There may be more: ask with `before` = the last `run_id`. */
  has_more: boolean
}

/** `POST /api/runs/:run_id/cancel`: 202. If the run has ended already: 409 `already_ended`. A queued run is cancelled at once. */
export interface CancelledRun {
  run_id: string
  status: RunStatus
}

// `POST /api/runs/:run_id/retry` sends the message of a failed or cancelled run again, as a new run: 201 with AcceptedRun, 409 `not_ended` or
// `not_failed`.
//
// `GET /api/runs/:run_id/events`, with `Last-Event-ID` or `?after=`: 200 with an event stream (event.ts), 204 if the run has ended and all of
// it was seen, 400 `invalid_cursor`, 404 `not_found`, 409 `cursor_ahead`, 429 `too_many_streams`.
//
/**
 * `POST /api/runs/:run_id/approvals/:step_id`, the `step_id` of an `approval_request`: 202 with the same body. 404 `not_found` if nobody was asked;
 * 409 `already_decided` if somebody decided before, whoever it was, and says what and when; 409 `approval_expired`, 409 `already_ended`.
 */
export interface Approval {
  decision: 'approve' | 'deny'
}

// `POST /api/chat/:sessionId` with `{ message }`: makes a run and answers with its event stream. Closing the connection does not stop the run.
