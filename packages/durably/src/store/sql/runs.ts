import type { RunStore } from '../runs.ts'
import type { SqlContext } from './context.ts'
import { applyWrites } from './runs/apply.ts'
import { cancelRuns } from './runs/cancel.ts'
import { adoptRuns, claimRuns } from './runs/claim.ts'
import { countRuns } from './runs/count.ts'
import { createRuns } from './runs/create.ts'
import { probeRuns } from './runs/probe.ts'
import { purgeRuns } from './runs/purge.ts'
import { runQueries } from './runs/queries.ts'
import { reapRuns } from './runs/reap.ts'
import { clientMoves } from './runs/retry-delete.ts'
import { wasAlive } from './runs/was-alive.ts'

/** The verbs that change runs. */
export type RunWrites = Omit<RunStore, 'adopt' | 'get' | 'list' | 'probe' | 'count' | 'purge' | 'wasAlive'>

export function sqlRuns(context: SqlContext, writes: RunWrites): RunStore {
  return {
    ...writes,
    adopt: adoptRuns(context),
    ...runQueries(context),
    probe: probeRuns(context),
    count: countRuns(context),
    purge: purgeRuns(context),
    wasAlive: wasAlive(context),
  }
}

/** Each verb as a batch of statements, for a database that lets one writer in at a time. */
export function batchedWrites(context: SqlContext): RunWrites {
  return {
    create: createRuns(context),
    claim: claimRuns(context),
    apply: applyWrites(context),
    reap: reapRuns(context),
    cancel: cancelRuns(context),
    ...clientMoves(context),
  }
}
