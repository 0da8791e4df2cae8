// Step — a named unit of work inside a run. A completed step is recorded once and never runs again.
import type { Codec } from './codec.ts'
import { DurablyError } from './errors.ts'
import type { Failure } from './failure.ts'

/** How an attempt of a step ended. Steps that have not ended are not stored. */
export type StepStatus = 'completed' | 'failed'

/** A step as a store keeps it: values are encoded as text. */
export interface StepRow {
  /** The id of this record of the step. */
  id: string
  /** The run that it belongs to. */
  runId: string
  /** The name of the step. */
  name: string
  /** The order in which the job called its steps, from 0. */
  index: number
  /** Whether it completed or failed. */
  status: StepStatus
  /** What its function returned, encoded; null if it failed. */
  output: string | null
  /** The message of the error; null if it completed. */
  error: string | null
  /** The whole error, encoded; null if it completed. */
  failure: string | null
  /** When its function was called, as ISO-8601 text. */
  startedAt: string
  /** When it ended, as ISO-8601 text. */
  completedAt: string | null
  /** The generation of the lease under which it was recorded. */
  leaseGeneration: number
}

/** A recorded step, as `getSteps` returns it. */
export interface Step {
  /** The id of this record of the step. */
  id: string
  /** The run that it belongs to. */
  runId: string
  /** The name that the job gave to it. */
  name: string
  /** The order in which the job called its steps, from 0. */
  index: number
  /** Whether it completed or failed. */
  status: StepStatus
  /** What its function returned; undefined if it failed. */
  output: unknown
  /** The message of the error that it threw; null if it completed. */
  error: string | null
  /** The whole error that it threw, with name, code, stack and cause; null if it completed. */
  failure: Failure | null
  /** When its function was called, as ISO-8601 text. */
  startedAt: string
  /** When it ended, as ISO-8601 text. */
  completedAt: string | null
}

export function readStepColumn(row: StepRow, column: 'output' | 'failure', codec: Codec): unknown {
  try {
    return codec.decode(row[column])
  } catch (cause) {
    throw new DurablyError(
      'row_unreadable',
      `step ${JSON.stringify(row.name)} of run ${row.runId}: column ${column} cannot be read; repair the row or delete the run`,
      {
        cause,
      },
    )
  }
}
