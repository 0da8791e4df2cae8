// RunState — the state of a run as a component sees it, and the errors that are part of it.
import { type ConnectionState, DurablyError, type Run, type RunStatus } from '@coji/durably/client'

/**
 * The state of a connection. `idle`: there is nothing to follow. `connecting`: there was none yet. `live`: changes arrive. `reconnecting`:
 * it broke and is being restored; nothing will be missing.
 */
export type Connection = ConnectionState | 'idle'

export interface RunState {
  /** `null` until it was read, and when it is gone. */
  readonly run: Run | null
  /** `gone`: there is no such run, or it was deleted. */
  readonly status: RunStatus | 'gone' | null
  /** The run has ended, and all of its log was received. */
  readonly isAtEnd: boolean
  readonly connection: Connection
  /** Why the run cannot be read or followed, else what it failed with (code `run_failed`). */
  readonly error: Error | null
}

export const UNKNOWN_RUN: RunState = { run: null, status: null, isAtEnd: false, connection: 'idle', error: null }

export function gone(runId: string, wasThere: boolean): DurablyError {
  return wasThere
    ? new DurablyError('run_deleted', `run ${runId} was deleted`, { runId })
    : new DurablyError('run_not_found', `there is no run ${JSON.stringify(runId)}`, { runId })
}

export function isGone(error: unknown): boolean {
  return hasCode(error, 'run_deleted') || hasCode(error, 'run_not_found')
}

export function failureOf(run: Run | null): Error | null {
  return run?.status === 'failed' ? new DurablyError('run_failed', run.error, { runId: run.id, cause: run.failure }) : null
}

/** Compares codes, not classes: a bundle may hold two copies of a class. */
export function hasCode(error: unknown, code: DurablyError['code']): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
