import type { RunStore } from '../../runs.ts'
import { applyWrites } from '../sqlite/apply.ts'
import { cancelRuns } from '../sqlite/cancel.ts'
import { adoptRuns, claimRuns } from '../sqlite/claim.ts'
import { clientMoves } from '../sqlite/client-moves.ts'
import { createRuns } from '../sqlite/create.ts'
import { reapRuns } from '../sqlite/reap.ts'
import { countRuns } from './count.ts'
import type { SqlContext } from './deps.ts'
import { probeRuns } from './probe.ts'
import { purgeRuns } from './purge.ts'
import { runQueries } from './queries.ts'
import { wasAlive } from './was-alive.ts'

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
