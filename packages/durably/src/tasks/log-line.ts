// TaskLogLine — the log lines that seed 003 asks for, one object each, and lines for the changes that it does not know.
import type { TaskStateChange } from './state-change.ts'

/** @inline */
interface Facts {
  /** The id of the task. */
  readonly taskId: string
  /** The type of the task. */
  readonly taskType: string
  /** When it happened, as ISO-8601 text. */
  readonly at: string
}

/** A record for the log of a task queue: one object per event, in the form that `TaskLogger` gets. */
export type TaskLogLine = Facts &
  /** It was enqueued. */
  (
    | { readonly event: 'Enqueued' }
    /** An execution begins, or has succeeded. */
    | { readonly event: 'Started' | 'Succeeded'; readonly attempt: number }
    /** An execution failed. */
    | { readonly event: 'Failed'; readonly attempt?: number; readonly error: string }
    /** The next execution is due later, in `backoffMs` milliseconds. */
    | { readonly event: 'RetryScheduled'; readonly nextRunAt: string; readonly backoffMs: number }
    /** It failed for good. */
    | { readonly event: 'Dead'; readonly attempts?: number; readonly lastError: string }
    /** It is queued again: it was redriven, its worker stopped, or its worker was lost. */
    | { readonly event: 'Requeued'; readonly by: 'redrive' | 'release' | 'reclaim' }
    /** It was cancelled. */
    | { readonly event: 'Cancelled' }
  )

/** The option `logger` of a task queue: called with one record for each change of a task, for example to write it as JSON. */
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
