// Log — a line written by a job, kept only with `withLogPersistence()`.

export const LOG_LEVELS = ['info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogRow {
  id: string
  runId: string
  stepName: string | null
  level: LogLevel
  message: string
  data: string | null
  timestamp: string
}

export interface Log {
  id: string
  runId: string
  stepName: string | null
  level: LogLevel
  message: string
  data: unknown
  timestamp: string
}
