// useRun — the current state of a run, wherever it executes, and the commands `cancel` and `retry`.
import {
  type DurablyClient,
  DurablyError,
  type Phase,
  type Progress,
  type Run,
  type RunStatus,
  type WaitingFor,
} from '@coji/durably/client'
import { useCallback } from 'react'
import { useObservers } from './durably-provider.tsx'
import { hasEnded } from './observe/run-after.ts'
import { type Connection, type RunState, UNKNOWN_RUN } from './observe/run-state.ts'
import { useAttempt } from './use-attempt.ts'
import { type RunPart, useRunPart } from './use-run-part.ts'

/** The state of a run, as a component shows it. */
export interface RunFacts<TOutput> {
  /** The run; null until it was read, and when it is gone. */
  run: Run<TOutput> | null
  /** Its status; null until it is known. `gone`: there is no such run, or it was deleted. */
  status: RunStatus | 'gone' | null
  /** Its phase, to show to people: the status in more detail. */
  phase: Phase | 'gone' | null
  /** What it waits for, as of when the run was last read; null while it executes and when it has ended. */
  waitingFor: WaitingFor | null
  /** What the job last reported; null if nothing. */
  progress: Progress | null
  /** What the job returned; null until it has completed. */
  output: TOutput | null
  /** Whether it is pending or running. */
  isRunning: boolean
  /** The state of the connection, for people to see. Nothing else depends on it. */
  connection: Connection
  /** What went wrong: the last `cancel` or `retry`, reading the run, or the run itself (code `run_failed`). Null if nothing did. */
  error: Error | null
}

/** What `useRun` returns: the state of the run, and functions. */
export interface UseRunResult<TOutput> extends RunFacts<TOutput> {
  /** Asks the run to stop. `phase` is `cancelling` until it has ended. */
  cancel(): ReturnType<DurablyClient['cancel']>
  /** Puts a failed run back to `pending`: it continues after its last recorded step. */
  retry(): Promise<Run<TOutput>>
}

/**
 * Follows a run, wherever it executes. `null` follows none.
 *
 * @example const { status, progress, cancel } = useRun(runId)
 */
export function useRun<TOutput = unknown>(runId: string | null): UseRunResult<TOutput> {
  const observers = useObservers()
  const state = useRunPart(runId, STATE)
  const { error, attempt } = useAttempt(runId)
  const cancel = useCallback(
    () =>
      attempt(
        async () => observers.cancel(present(runId, 'cancel')),
        () => runId,
      ),
    [observers, runId, attempt],
  )
  const retry = useCallback(
    () =>
      attempt(
        async () => (await observers.retry(present(runId, 'retry'))) as Run<TOutput>,
        () => runId,
      ),
    [observers, runId, attempt],
  )
  return { ...factsOf<TOutput>(state, error), cancel, retry }
}

export const STATE: RunPart<RunState> = { of: ({ state }) => state, unknown: UNKNOWN_RUN, history: false }

export function factsOf<TOutput>({ run, status, connection, error }: RunState, attemptError: Error | null): RunFacts<TOutput> {
  return {
    run: run as Run<TOutput> | null,
    status,
    phase: run?.phase ?? (status === 'gone' ? 'gone' : null),
    waitingFor: run?.waitingFor ?? null,
    progress: run?.progress ?? null,
    output: (run?.output ?? null) as TOutput | null,
    isRunning: run !== null && !hasEnded(run.status),
    connection,
    error: attemptError ?? error,
  }
}

export function present(runId: string | null, verb: string): string {
  if (runId === null) throw new DurablyError('invalid_argument', `there is no run to ${verb} yet; trigger one, or pass the id of one`)
  return runId
}
