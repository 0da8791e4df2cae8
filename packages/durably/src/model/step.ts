// Step — a named unit of work inside a run. A completed step is recorded once and never runs again.
import type { Codec } from './codec.ts'
import { DurablyError } from './errors.ts'
import type { Failure } from './failure.ts'

export type StepStatus = 'completed' | 'failed'

export interface StepRow {
  id: string
  runId: string
  name: string
  /** The order in which the job called its steps, from 0. */
  index: number
  status: StepStatus
  output: string | null
  error: string | null
  failure: string | null
  startedAt: string
  completedAt: string | null
  leaseGeneration: number
}

export interface Step {
  id: string
  runId: string
  name: string
  index: number
  status: StepStatus
  output: unknown
  error: string | null
  failure: Failure | null
  startedAt: string
  completedAt: string | null
}

export function toStep(row: StepRow, codec: Codec): Step {
  return {
    id: row.id,
    runId: row.runId,
    name: row.name,
    index: row.index,
    status: row.status,
    output: readStepColumn(row, 'output', codec),
    error: row.error,
    failure: (readStepColumn(row, 'failure', codec) as Failure | undefined) ?? null,
    startedAt: row.startedAt,
    completedAt: row.completedAt,
  }
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
