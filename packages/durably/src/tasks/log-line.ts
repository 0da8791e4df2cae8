// TaskLogLine — the log lines that seed 003 asks for, one object each, and lines for the changes that it does not know.
import type { TaskStateChange } from './state-change.ts'

interface Facts {
  readonly taskId: string
  readonly taskType: string
  readonly at: string
}

export type TaskLogLine = Facts &
  (
    | { readonly event: 'Enqueued' }
    | { readonly event: 'Started' | 'Succeeded'; readonly attempt: number }
    | { readonly event: 'Failed'; readonly attempt?: number; readonly error: string }
    | { readonly event: 'RetryScheduled'; readonly nextRunAt: string; readonly backoffMs: number }
    | { readonly event: 'Dead'; readonly attempts?: number; readonly lastError: string }
    | { readonly event: 'Requeued'; readonly by: 'redrive' | 'release' | 'reclaim' }
    | { readonly event: 'Cancelled' }
  )

export type TaskLogger = (line: TaskLogLine) => void

export function logLines(change: TaskStateChange): TaskLogLine[] {
  const { taskId, taskType, at } = change
  const facts = { at, taskId, taskType }
  switch (change.state) {
    case 'Queued':
      return [change.by === 'enqueue' ? { event: 'Enqueued', ...facts } : { event: 'Requeued', ...facts, by: change.by }]
    case 'Running':
      return [{ event: 'Started', ...facts, attempt: change.attempt }]
    case 'Succeeded':
      return [{ event: 'Succeeded', ...facts, attempt: change.attempt }]
    case 'RetryScheduled': {
      const { attempt, error, nextRunAt } = change
      const backoffMs = Math.max(0, Date.parse(nextRunAt) - Date.parse(at))
      return [
        { event: 'Failed', ...facts, attempt, error },
        { event: 'RetryScheduled', ...facts, nextRunAt, backoffMs },
      ]
    }
    case 'Dead': {
      const { attempts, error } = change
      return [
        { event: 'Failed', ...facts, ...(attempts !== undefined && { attempt: attempts }), error },
        { event: 'Dead', ...facts, ...(attempts !== undefined && { attempts }), lastError: error },
      ]
    }
    case 'Cancelled':
      return [{ event: 'Cancelled', ...facts }]
  }
}
