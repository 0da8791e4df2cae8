import type { NewRun } from '../../runs.ts'

/** Most runs have no keys, no parent, no deadline and no labels. Each database has a statement with fewer columns for these. */
export function isPlain(run: NewRun): boolean {
  return (
    run.idempotencyKey === null &&
    run.concurrencyKey === null &&
    run.deadlineMs === null &&
    run.deadlineAt === null &&
    run.parentRunId === null &&
    run.parentStep === null &&
    run.parentToken === null &&
    run.labels === null &&
    !run.unchecked &&
    !run.holdKey &&
    !run.preferWorkerId
  )
}
