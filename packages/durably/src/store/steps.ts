import type { StepRow } from '../model/step.ts'
import type { Claim } from './owner-write.ts'

export interface StepStore {
  /** Every recorded step of a run, failed ones included, by index, then in the order they were recorded. */
  list(runId: string): Promise<StepRow[]>
  /**
   * The same for the owner of a run; `null` when the run is no longer held under this claim. Asked after the claim, never in
   * its own statement (R4). A process that was suspended since may have lost the run, which may even be purged: that must not look like a run without steps.
   */
  listOwned(claim: Claim): Promise<StepRow[] | null>
  /** Those of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<StepRow[]>
}
