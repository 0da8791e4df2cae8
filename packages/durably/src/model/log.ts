// Log — a line written by a job, kept only with `withLogPersistence()`.

export const LOG_LEVELS = ['info', 'warn', 'error'] as const
/** The level of a log line: `info`, `warn` or `error`. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A log line as a store keeps it. */
export interface LogRow {
  /** The id of the line; ids give the order. */
  id: string
  /** The run that wrote it. */
  runId: string
  /** The step that wrote it; null outside of steps. */
  stepName: string | null
  /** `info`, `warn` or `error`. */
  level: LogLevel
  /** The text. */
  message: string
  /** The data that came with it, encoded; null if there was none. */
  data: string | null
  /** When it was written, as ISO-8601 text. */
  timestamp: string
}

/** A stored log line, as `getLogs` returns it. */
export interface Log {
  /** The id of the line; ids give the order. */
  id: string
  /** The run that wrote it. */
  runId: string
  /** The step that wrote it; null outside of steps. */
  stepName: string | null
  /** `info`, `warn` or `error`. */
  level: LogLevel
  /** The text. For a line about an event it is the type of the event. */
  message: string
  /** The data that came with it. */
  data: unknown
  /** When it was written, as ISO-8601 text. */
  timestamp: string
}
