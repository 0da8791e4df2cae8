// TaskRecord — the state of a task; TaskEnvelope — what was enqueued.
import type { Codec } from '../model/codec.ts'
import { iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type RunRow, readColumn } from '../model/run.ts'
import { stateOfRow, type TaskState } from './task-state.ts'

export interface TaskEnvelope<TPayload = unknown> {
  readonly taskType: string
  readonly payload: TPayload
  /** How the payload is stored: JSON, in this version. */
  readonly contentType: typeof CONTENT_TYPE
}

const CONTENT_TYPE = 'application/json'

export interface TaskRecord<TPayload = unknown> {
  readonly id: string
  readonly envelope: TaskEnvelope<TPayload>
  readonly state: TaskState
  /** How many executions failed. */
  readonly attempts: number
  /** After so many executions the task is `Dead`, unless the retry policy gives up earlier; `Infinity` when the policy alone decides. */
  readonly maxAttempts: number
  /** The error of the last execution; `null` once one has succeeded. */
  readonly lastError: string | null
  /** When it is due, if that is later than now. */
  readonly nextRunAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** Names a task: its id, or an object with its id, such as the result of `enqueue`. */
export type TaskRef = string | Pick<TaskRecord, 'id'>

export function taskIdOf(task: TaskRef): string {
  const id: unknown = typeof task === 'object' ? task?.id : task
  if (typeof id === 'string') return id
  throw new DurablyError('invalid_argument', `a task is named by its id, or by the record that enqueue() returned, got ${describe(task)}`)
}

function describe(task: unknown): string {
  if (task instanceof Promise) return 'a promise; await enqueue() first'
  return typeof task === 'object' && task !== null ? 'an object without an id' : String(task)
}

export function taskRecord(row: RunRow, codec: Codec, maxAttempts: number, nowMs: number): TaskRecord {
  const isLater = row.status === 'pending' && row.runAt > nowMs
  return {
    id: row.id,
    envelope: { taskType: row.jobName, payload: readColumn(row, 'payload', codec), contentType: CONTENT_TYPE },
    state: stateOfRow(row, nowMs),
    attempts: row.attempts,
    maxAttempts,
    lastError: row.error,
    nextRunAt: isLater ? iso(row.runAt) : null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
