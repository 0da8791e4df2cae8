// useRunLogs — the log lines of a run, live. They are stored only with `withLogPersistence()`.
import type { LogWriteEvent } from '@coji/durably/client'
import type { Connection } from './observe/run-state.ts'
import { STATE } from './use-run.ts'
import { type RunPart, useRunPart } from './use-run-part.ts'

export interface UseRunLogsResult {
  /** The last 1,000, oldest first; `sequence` is a key. */
  logs: readonly LogWriteEvent[]
  connection: Connection
  error: Error | null
}

/** @example const { logs } = useRunLogs(runId) */
export function useRunLogs(runId: string | null): UseRunLogsResult {
  const logs = useRunPart(runId, LOGS)
  const { connection, error } = useRunPart(runId, STATE)
  return { logs, connection, error }
}

const LOGS: RunPart<readonly LogWriteEvent[]> = { of: ({ logs }) => logs, unknown: [], history: true }
