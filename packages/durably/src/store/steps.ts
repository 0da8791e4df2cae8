import type { StepRow } from '../model/step.ts'

export interface StepStore {
  /**
   * Every recorded step of a run, failed ones included, by index, then in the order they were recorded. Read after the claim,
   * never in its own statement (R4).
   */
  list(runId: string): Promise<StepRow[]>
  /** Those of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<StepRow[]>
}
