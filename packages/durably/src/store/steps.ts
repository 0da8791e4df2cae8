import type { StepRow } from '../model/step.ts'
import type { Claim } from './owner-write.ts'
import type { RowPage } from './row-page.ts'

/** The recorded steps of runs. */
export interface StepStore {
  /**
   * The recorded steps of a run, failed ones included, by index, then in the order in which they were recorded. After a step that the run
   * does not have there are none.
   */
  list(runId: string, page?: RowPage): Promise<StepRow[]>
  /**
   * The same for the owner of a run; null if the run is no longer held under this claim. A worker asks after its claim, so that one that
   * was replaced meanwhile does not take a run without steps for a new one.
   */
  listOwned(claim: Claim, page?: RowPage): Promise<StepRow[] | null>
  /** The steps of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<StepRow[]>
}
