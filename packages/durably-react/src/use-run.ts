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

export interface RunFacts<TOutput> {
  /** `null` until it was read, and when it is gone. */
  run: Run<TOutput> | null
  /** `null` until it is known; `gone` when there is no such run, or it was deleted. */
  status: RunStatus | 'gone' | null
  /** What to show to a person: `status`, or `sleeping`, `waiting`, `cancelling`, `stale`. */
  phase: Phase | 'gone' | null
  /** What it waits for, as of when the run was last read; null while it executes and when it has ended. */
  waitingFor: WaitingFor | null
  progress: Progress | null
  /** Once it has completed. */
  output: TOutput | null
  /** It is pending or running. */
  isRunning: boolean
  /** The state of the connection, to show; nothing else depends on it. */
  connection: Connection
  /** What went wrong: the last cancel or retry, reading the run, or the run itself (code `run_failed`). */
  error: Error | null
}

export interface UseRunResult<TOutput> extends RunFacts<TOutput> {
  /** Asks the run to stop: `phase` is `cancelling` until the run has ended. */
  cancel(): ReturnType<DurablyClient['cancel']>
  /** A failed run goes on from its last recorded step. */
  retry(): Promise<Run<TOutput>>
}

/** @example const { status, progress, cancel } = useRun(runId) */
export function useRun<TOutput = unknown>(runId: string | null): UseRunResult<TOutput> {
  const observers = useObservers()
  const state = useRunPart(runId, STATE)
  const { error, attempt } = useAttempt(runId)
  const cancel = useCallback(() => attempt(async () => observers.cancel(present(runId, 'cancel'))), [observers, runId, attempt])
  const retry = useCallback(
    () => attempt(async () => (await observers.retry(present(runId, 'retry'))) as Run<TOutput>),
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
