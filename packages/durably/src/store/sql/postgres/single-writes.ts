import type { SqlContext } from '../shared/deps.ts'
import type { RunWrites } from '../shared/runs.ts'
import { applyWrites } from './apply.ts'
import { cancelRuns } from './cancel.ts'
import { claimRuns } from './claim.ts'
import { clientMoves } from './client-moves.ts'
import { createRuns } from './create.ts'
import { reapRuns } from './reap.ts'

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
