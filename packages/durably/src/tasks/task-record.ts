// TaskRecord — what is known of a task; TaskEnvelope — what was put into the queue.
import type { Run } from '../model/run.ts'
import { type TaskState, taskState } from './task-state.ts'

export interface TaskEnvelope<TPayload = unknown> {
  readonly taskType: string
  readonly payload: TPayload
  /** How the payload is stored. Nothing but JSON in this version. */
  readonly contentType: typeof CONTENT_TYPE
}

const CONTENT_TYPE = 'application/json'

export interface TaskRecord<TPayload = unknown> {
  readonly id: string
  readonly envelope: TaskEnvelope<TPayload>
  readonly state: TaskState
  /** Executions that failed. The one that is running, or succeeded, is not among them. */
  readonly attempts: number
  /** Executions in all until it is `Dead`; `null` when the queue was given a policy that alone decides. */
  readonly maxAttempts: number | null
  /** What the last execution failed with; `null` once one has succeeded. */
  readonly lastError: string | null
  /** When it is due, if that is later than now. */
  readonly nextRunAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export function taskRecord(run: Run, maxAttempts: number | null, nowMs: number): TaskRecord {
  const isLater = run.status === 'pending' && Date.parse(run.runAt) > nowMs
  return {
    id: run.id,
    envelope: { taskType: run.jobName, payload: run.payload, contentType: CONTENT_TYPE },
    state: taskState(run, nowMs),
    attempts: run.attempts,
    maxAttempts,
    lastError: run.error,
    nextRunAt: isLater ? run.runAt : null,
    createdAt: run.createdAt,
    updatedAt: run.updatedAt,
  }
}
