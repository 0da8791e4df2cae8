// What a leader does that chooses a worker for each run (`dispatch: 'leader'`), and how a worker starts what was chosen for it.
//   A1. A run is assigned only while it is pending, has the version that the leader has read and no worker yet.
//   A2. A run is assigned only to a worker that is attached and not silent, as the register says in the same transaction.
//   A3. Writes of a leader are refused unless its epoch is the current one (E2).
//   A4. A run that prefers a worker is open to that worker alone, until it has been due for some time, as long as that worker is attached and
//       not silent. A run is not open either while an earlier one of its concurrency key is not: it must not overtake.
import type { RunRow } from '../../model/run.ts'
import type { ClaimRequest } from '../runs.ts'

/** The runs that a leader assigns. */
export interface AssignmentStore {
  /** Runs of these jobs that are due and have no worker yet, the oldest first, at most one of each concurrency key. */
  findUnassigned(request: UnassignedRequest): Promise<UnassignedRun[]>
  /** Assigns each of these runs, if A1 and A2 hold for it. Null if another process leads. */
  assign(request: AssignRequest): Promise<AssignedRun[] | null>
  /** Takes away the workers that are detached or silent, of runs that were assigned to them long ago. Null if another process leads. */
  orphan(request: OrphanRequest): Promise<AssignedRun[] | null>
  /** Claims runs like `RunStore.claim`, but only those that are assigned to the worker. */
  claimAssigned(request: ClaimRequest & { workerId: string }): Promise<RunRow[]>
  /** Claims runs like `RunStore.claim`, but only those that are open to the worker (A4). */
  claimOpen(request: OpenClaimRequest): Promise<RunRow[]>
}

/** Which runs a worker claims that leaves some to others. */
export interface OpenClaimRequest extends ClaimRequest {
  /** The name of the worker. */
  workerId: string
  /** How long it leaves a run that prefers another worker alone, from when the run is due, in milliseconds. */
  preferMs: number
}

/** Which runs a leader looks for. */
export interface UnassignedRequest {
  /** The names of the jobs that workers have. */
  jobNames: readonly string[]
  /** How many runs are wanted at most. */
  limit: number
}

/** A run that has no worker yet. */
export interface UnassignedRun {
  /** The id of the run. */
  id: string
  /** The name of its job. */
  jobName: string
  /** The version that it must still have when it is assigned. */
  version: number
  /** The worker that it prefers; null if it prefers none. */
  preferWorkerId: string | null
}

/** What a leader has chosen. */
export interface AssignRequest {
  /** The epoch of the leader. */
  epoch: number
  /** The worker of each run. */
  assignments: readonly Assignment[]
}

/** The worker that was chosen for a run. */
export interface Assignment {
  /** The id of the run. */
  runId: string
  /** The version that the run must have. */
  version: number
  /** The name of the worker. */
  workerId: string
}

/** Which runs lose their worker again. */
export interface OrphanRequest {
  /** The epoch of the leader. */
  epoch: number
  /** How long ago they were assigned at least, in milliseconds, unless the settings say otherwise. */
  reassignAfterMs: number
}

/** A run whose worker was chosen or taken away. */
export interface AssignedRun {
  /** The id of the run. */
  id: string
  /** The name of its job. */
  jobName: string
  /** The worker that was chosen, or taken away. */
  workerId: string
}

/** How many runs lose their worker in one call. */
export const ORPHAN_MAX = 50
