import type { Codec } from './codec.ts'
import type { Failure } from './failure.ts'
import { readStepColumn, type Step, type StepRow } from './step.ts'

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
