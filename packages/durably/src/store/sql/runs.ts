import type { RunStore } from '../runs.ts'
import type { SqlContext } from './context.ts'
import { applyWrites } from './runs/apply.ts'
import { clientMoves } from './runs/cancel-retry-delete.ts'
import { adoptRun, claimRun } from './runs/claim.ts'
import { createRuns } from './runs/create.ts'
import { probeRuns } from './runs/probe.ts'
import { runQueries } from './runs/queries.ts'
import { reapRuns } from './runs/reap.ts'

export function sqlRuns(context: SqlContext): RunStore {
  return {
    create: createRuns(context),
    claim: claimRun(context),
    adopt: adoptRun(context),
    apply: applyWrites(context),
    reap: reapRuns(context),
    ...clientMoves(context),
    ...runQueries(context),
    probe: probeRuns(context),
  }
}
