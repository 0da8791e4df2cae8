import type { Failure } from '../model/failure.ts'
import type { Phase } from '../model/phase.ts'
import type { RunRow, RunStatus, TerminalStatus } from '../model/run.ts'
import type { Claim, OwnerWrite, WriteOutcome } from './owner-write.ts'

export interface RunStore {
  /**
   * Stores all of them or none. A known (parent, step) or (job, idempotency key) answers with the run that has it, as it is now.
   * Rejects with `run_not_found` when the parent of a new child is not held under `parentToken`: that child is not stored, though
   * others of the call may be; they can be sent again without it.
   */
  create(runs: readonly NewRun[], options?: CreateOptions): Promise<Created[]>
  /**
   * Moves the oldest claimable runs to `running`, one per token, oldest first. Fewer when there are no more, or when a long
   * queue behind one key hides them: as long as there is a claimable run, a claim takes at least the oldest.
   */
  claim(request: ClaimRequest): Promise<RunRow[]>
  /** The runs held under these tokens, after a claim whose outcome is unknown (R4). */
  adopt(tokens: readonly string[]): Promise<RunRow[]>
  /** The claim tokens under which runs are held, in any order. */
  held(): Promise<string[]>
  /** Writes of owners; each is applied or refused alone, an answer per write. */
  apply(writes: readonly OwnerWrite[]): Promise<WriteOutcome[]>
  /** Takes back runs whose lease is over, or those that are named, oldest lease first, at most REAP_MAX at a time. */
  reap(request: ReapRequest): Promise<Reaped[]>
  /**
   * Its owner was alive when the lease was taken back: a clock was wrong, and that is no recovery. Takes one off the count of a run that
   * has not ended and is not held under this claim. Said once and not again: an unknown outcome is left as it is.
   */
  wasAlive(claim: Claim): Promise<void>
  /**
   * Cancels a pending run, asks a running one to stop, and so do those that it triggered, at any depth: below one that is or was
   * cancelled the walk goes on, below one that has completed or failed it does not. One that was cancelled before is walked from
   * again. `null` when there is no such run.
   */
  cancel(id: string, options?: IfVersion): Promise<CancelOutcome | Changed | null>
  /**
   * A failed run goes back to pending and keeps its steps; what counts tries and losses begins anew, a deadline that is over is
   * lifted, and a signal that only a failed step of its name has received is forgotten. Refused when it has not failed, or when the
   * run that triggered it was asked to stop: it would be cancelled at once. `null` when there is no such run.
   */
  retry(id: string, options?: IfVersion): Promise<RetryOutcome | Changed | null>
  /** Removes a run that can go and all that belongs to it; `null` when there is no such run. */
  delete(id: string, options?: IfVersion): Promise<DeleteOutcome | Changed | null>
  get(id: string): Promise<RunRow | null>
  /** The run that a step of another one has triggered; `null` when there is none. */
  getChild(parentRunId: string, step: string): Promise<RunRow | null>
  /** The running run that holds a concurrency key; `null` when the key is free. */
  getHolder(concurrencyKey: string): Promise<RunRow | null>
  /** Those that match, the greatest id first, which is the newest; by their end when the query asks for a range of ends. */
  list(query: RunQuery): Promise<RunRow[]>
  /** How many runs there are in each phase; of these jobs, or of all. */
  count(jobNames?: readonly string[]): Promise<RunCount[]>
  /** Removes runs that ended long ago and can go, by `finishedAt`, then by id; answers how many. */
  purge(request: PurgeRequest): Promise<number>
  /** The pending run of these jobs that is due for longest; its key may be held. `null` when none is due. */
  oldestDue(jobNames: readonly string[]): Promise<OldestDue | null>
  /** What an idle worker wants to know, in one read. */
  probe(jobNames: readonly string[]): Promise<Probe>
}

export interface NewRun {
  id: string
  jobName: string
  payload: string | null
  idempotencyKey: string | null
  concurrencyKey: string | null
  createdAt: string
  /** When it is due: this long after the store has it, or at a time. At once when both are null. */
  delayMs: number | null
  runAt: number | null
  /**
   * When it must have ended: this long after the store has it, or at a time. One that could only start after its deadline is due at
   * its deadline, to fail.
   */
  deadlineMs: number | null
  deadlineAt: number | null
  /** The run that triggered it and shares its cancel. */
  parentRunId: string | null
  /** The step of that run by which it is known. */
  parentStep: string | null
  /** The claim under which that run must be held: what a worker triggers is fenced like what it writes (W1). */
  parentToken: string | null
}

export interface CreateOptions {
  /** A transaction of the same database: they are there when it commits. */
  within?: unknown
}

export interface Created {
  run: RunRow
  /** False when it was known. */
  created: boolean
}

export interface ClaimRequest {
  /** Only jobs that the worker has registered: an unknown job waits, it is never failed. */
  jobNames: readonly string[]
  /** One for each run that is wanted; unique for ever. */
  tokens: readonly string[]
  leaseMs: number
}

export interface ReapRequest {
  /** `Infinity` for no limit. */
  maxRecoveries: number
  /**
   * Only the runs held under these claim tokens, whose owners are known to be gone: their leases count as over. Named, so that a
   * request that is carried out late takes nothing that was claimed since.
   */
  tokens?: readonly string[]
}

export interface RunCount {
  phase: Phase
  /** At least one attempt has failed. */
  isRetried: boolean
  count: number
}

export interface PurgeRequest {
  statuses: readonly TerminalStatus[]
  olderThanMs: number
  jobNames?: readonly string[]
  /** A long history must not hold the others up, so it goes in pages. */
  limit: number
}

/** One page of old runs: short transactions, for others want to write as well. */
export const PURGE_PAGE = 200

/** One page of lost runs; a larger backlog takes several calls. */
export const REAP_MAX = 50

/** A lease further ahead than this was written by a broken clock and counts as over. */
export const LEASE_MS_MAX = 24 * 60 * 60 * 1000

export interface Reaped {
  run: RunRow
  move: 'reclaim' | 'reclaimCancelled' | 'reclaimTimedOut' | 'reclaimCrashLoop'
}

export const DEADLINE_ERROR = 'its deadline was over when its worker was lost'

export function crashLoopError(maxRecoveries: number): string {
  return `its worker was lost ${maxRecoveries + 1} times in a row without a newly recorded step`
}

/** Of a run that failed because its worker was lost. */
export function lossOf(code: 'crash_loop' | 'timeout', message: string): Failure {
  return { name: 'DurablyError', code, message }
}

export interface IfVersion {
  /** Only if the run still has this `version`; else nothing is changed, and the call rejects with the code `version_mismatch`. */
  ifVersion?: number
}

/** The run has another version than the one that was asked for: nothing was done. */
export interface Changed {
  outcome: 'changed'
  version: number
}

export interface CancelOutcome {
  /** `cancelled`: it will not start. `requested`: its owner will stop. `refused`: it had already ended. */
  outcome: 'cancelled' | 'requested' | 'refused'
  run: RunRow
  /** The others that it changed, by id. */
  others: StoppedRun[]
}

export interface StoppedRun {
  outcome: 'cancelled' | 'requested'
  id: string
  jobName: string
}

export interface RetryOutcome {
  outcome: 'retried' | 'refused'
  run: RunRow
}

/**
 * A run can go when it has ended and nobody needs it any more:
 *   - The run that triggered it is gone, has completed or was cancelled. Any other one may ask for it, a failed one when it is retried.
 *   - If it was cancelled, those that it triggered have ended: below it a cancel that is asked for again finds them.
 */
export interface DeleteOutcome {
  outcome: 'deleted' | 'refused'
  status: RunStatus
}

/** Every condition must hold; an empty list of values fits no run. */
export interface RunQuery {
  statuses?: readonly RunStatus[]
  phases?: readonly Phase[]
  jobNames?: readonly string[]
  concurrencyKey?: string
  idempotencyKey?: string
  parentRunId?: string
  /** Ids from this one on. */
  fromId?: string
  /** Ids below this one. */
  beforeId?: string
  /** Ends from this time on. With this one or the next, the list is ordered by `finishedAt`, then by id. */
  finishedFrom?: number
  /** Ends before this time. */
  finishedBefore?: number
  /** The other way round. */
  oldestFirst?: boolean
  limit?: number
  /** Only runs that come after this place in the order of the list. */
  after?: RunPlace
}

export interface RunPlace {
  id: string
  /** In a list that is ordered by it. */
  finishedAt?: number
}

export interface OldestDue {
  id: string
  jobName: string
  runAt: number
  /** How long it has been due, by the store's clock. */
  lagMs: number
}

export interface Probe {
  /** A run of these jobs is pending and due (its key may still be held). */
  due: boolean
  /** A lease is over. */
  stale: boolean
  /** Milliseconds until a pending run falls due or a lease ends, whichever is first. */
  nextInMs: number | null
}
