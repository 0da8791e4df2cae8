// TaskRecord — the state of a task; TaskEnvelope — what was enqueued.
import type { Codec } from '../model/codec.ts'
import { iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { Labels } from '../model/labels.ts'
import { type RunRow, readColumn } from '../model/run.ts'
import { stateOfRow, type TaskState } from './task-state.ts'

/** What was enqueued. */
export interface TaskEnvelope<TPayload = unknown> {
  /** The type of the task. */
  readonly taskType: string
  /** What the handler gets. */
  readonly payload: TPayload
  /** How the payload is stored: as JSON, in this version. */
  readonly contentType: typeof CONTENT_TYPE
}

const CONTENT_TYPE = 'application/json'

/** A task and its state. */
export interface TaskRecord<TPayload = unknown> {
  /** The id of the task, a ULID: ids of later tasks are greater. */
  readonly id: string
  /** What was enqueued. */
  readonly envelope: TaskEnvelope<TPayload>
  /** Its state. */
  readonly state: TaskState
  /** The labels that it was enqueued with; `{}` without labels. */
  readonly labels: Labels
  /** How many executions have failed. */
  readonly attempts: number
  /** After so many executions the task is `Dead`, unless the retry policy gives up earlier. `Infinity` if the policy alone decides. */
  readonly maxAttempts: number
  /** The message of the error of the last failed execution; null if none failed, or a later one succeeded. */
  readonly lastError: string | null
  /** When it is due, as ISO-8601 text, if that is later than now; otherwise null. */
  readonly nextRunAt: string | null
  /** When it was enqueued, as ISO-8601 text. */
  readonly createdAt: string
  /** When it last changed, as ISO-8601 text. */
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
    labels: (readColumn(row, 'labels', codec) as Labels | undefined) ?? {},
    attempts: row.attempts,
    maxAttempts,
    lastError: row.error,
    nextRunAt: isLater ? iso(row.runAt) : null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
