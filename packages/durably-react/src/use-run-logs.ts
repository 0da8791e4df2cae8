// useRunLogs — the log lines of a run, live. They are stored only with `withLogPersistence()`.
import type { LogWriteEvent } from '@coji/durably/client'
import type { Connection } from './observe/run-state.ts'
import { STATE } from './use-run.ts'
import { type RunPart, useRunPart } from './use-run-part.ts'

/** What `useRunLogs` returns. */
export interface UseRunLogsResult {
  /** The last 1,000 lines, the oldest first. `sequence` can be used as a key. */
  logs: readonly LogWriteEvent[]
  /** The state of the connection, for people to see. */
  connection: Connection
  /** Why the run cannot be read, or what it failed with; null if all is well. */
  error: Error | null
}

/**
 * Follows the log lines of a run. Lines are there only with the plugin `withLogPersistence()`.
 *
 * @example const { logs } = useRunLogs(runId)
 */
export function useRunLogs(runId: string | null): UseRunLogsResult {
  const logs = useRunPart(runId, LOGS)
  const { connection, error } = useRunPart(runId, STATE)
  return { logs, connection, error }
}

const LOGS: RunPart<readonly LogWriteEvent[]> = { of: ({ logs }) => logs, unknown: [], history: true }
