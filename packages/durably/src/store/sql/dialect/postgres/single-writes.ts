import type { SqlContext } from '../../context.ts'
import type { RunWrites } from '../../runs.ts'
import { applyWrites } from './apply-writes.ts'
import { cancelRuns } from './cancel-runs.ts'
import { claimRuns } from './claim-runs.ts'
import { createRuns } from './create-runs.ts'
import { reapRuns } from './reap-runs.ts'
import { clientMoves } from './retry-delete.ts'

/**
 * Each verb as one statement: one round trip, one transaction.
 *   PG1. All parts of a statement see the database as it was at its start. What happened while it waited for a lock is
 *        seen only in the row that it locked, so a verb decides by that row alone.
 *   PG2. The run's row is locked before anything else is written, and what is written comes out of that lock (R2).
 */
export function singleWrites(context: SqlContext): RunWrites {
  return {
    create: createRuns(context),
    claim: claimRuns(context),
    apply: applyWrites(context),
    reap: reapRuns(context),
    cancel: cancelRuns(context),
    ...clientMoves(context),
  }
}
