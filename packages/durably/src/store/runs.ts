import type { Failure } from '../model/failure.ts'
import type { Labels } from '../model/labels.ts'
import type { Phase } from '../model/phase.ts'
import type { RunRow, RunStatus, TerminalStatus } from '../model/run.ts'
import type { Audited } from './cluster/audit.ts'
import type { ActorOption } from './cluster/audited.ts'
import type { Claim, OwnerWrite, WriteOutcome } from './owner-write.ts'

/**
 * The runs of a store. Each method is one transaction. It resolves with what happened; if it rejects, the outcome is unknown, and it may be
 * called again with the same arguments.
 */
export interface RunStore {
  /**
   * Stores all of these runs or none. Where a run with the same parent and step, or with the same job and idempotency key, exists, that run
   * is returned as it is now. Rejects with `run_not_found` if the parent of a new child is not held under `parentToken`; that child is then
   * not stored, but others of the call may be, and can be sent again without it.
   */
  create(runs: readonly NewRun[], options?: CreateOptions): Promise<Created[]>
  /**
   * Moves the oldest claimable runs to `running`, one per token, oldest first. It may return fewer than there are, if a long queue behind
   * one concurrency key hides them; but as long as there is a claimable run, it takes at least the oldest.
   */
  claim(request: ClaimRequest): Promise<RunRow[]>
  /** The runs that are held under these tokens, to find out what became of a claim whose answer was lost. */
  adopt(tokens: readonly string[]): Promise<RunRow[]>
  /** The claim tokens under which runs are held now, in any order. */
  held(): Promise<string[]>
  /** Applies writes of owners. Each is applied or refused by itself, and has its own answer. */
  apply(writes: readonly OwnerWrite[]): Promise<WriteOutcome[]>
  /**
   * Puts runs back whose lease is over, or that are named by their tokens, the oldest lease first, at most 50 per call. If the owner of a run
   * was given time to come back (`confirmMs`), the run is marked instead, once, and its lease lasts until that time is over. What the owner
   * writes until then is accepted and removes the mark.
   */
  reap(request: ReapRequest): Promise<Reaped[]>
  /**
   * Records that the owner of this claim was alive when its lease was taken: a clock was wrong, and the loss must not count as a recovery. It
   * lowers the count of a run that has not ended and is not held under this claim. It is called once: if the outcome is unknown, it is not
   * repeated.
   */
  wasAlive(claim: Claim): Promise<void>
  /**
   * Cancels a pending run, and asks a running one to stop, and does the same to all runs that it triggered, at any depth. It goes on below runs that are
   * or were cancelled, and not below those that completed or failed. Null if there is no such run.
   */
  cancel(id: string, options?: StoreCommand): Promise<CancelOutcome | Changed | null>
  /**
   * Puts a failed run back to `pending` with its steps. Attempts and recoveries are counted anew, a deadline that is over is removed, and a
   * signal that only a failed step has received can be received again. Refused if the run has not failed, or if the run that triggered it
   * was asked to stop. Null if there is no such run.
   */
  retry(id: string, options?: StoreCommand): Promise<RetryOutcome | Changed | null>
  /** Removes a run that nobody needs any more, and all that belongs to it; see `DeleteOutcome`. Null if there is no such run. */
  delete(id: string, options?: StoreCommand): Promise<DeleteOutcome | Changed | null>
  /** Reads a run; null if there is no such run. */
  get(id: string): Promise<RunRow | null>
  /** The run that a step of another run has triggered; null if there is none. */
  getChild(parentRunId: string, step: string): Promise<RunRow | null>
  /** The run that has a concurrency key: it is running, or pending and holds the key (`holdKey`). Null if the key is free. */
  getHolder(concurrencyKey: string): Promise<RunRow | null>
  /** The runs that match, the newest first, which is the greatest id; ordered by when they ended if the query has a range of ends. */
  list(query: RunQuery): Promise<RunRow[]>
  /** How many runs there are in each phase, of these jobs or of all. */
  count(jobNames?: readonly string[]): Promise<RunCount[]>
  /** Removes runs that ended long ago and that nobody needs any more, in the order of their ends; returns how many. */
  purge(request: PurgeRequest): Promise<number>
  /** The pending run of these jobs that has been due for longest; its concurrency key may be held. Null if none is due. */
  oldestDue(jobNames: readonly string[]): Promise<OldestDue | null>
  /** The names of the jobs that have a pending run which has been due for a while, in any order. Its concurrency key may be held. */
  dueJobs(request: DueJobsRequest): Promise<string[]>
  /** What an idle worker needs to know, in one read. */
  probe(jobNames: readonly string[]): Promise<Probe>
}

/** Which jobs with due runs are asked for. */
export interface DueJobsRequest {
  /** For how long at least a run of the job has been due, in milliseconds. */
  waitedMs: number
  /** The names of jobs that are left out. */
  except: readonly string[]
  /** How many names are returned at most. */
  limit: number
}

/** A run that is to be stored. */
export interface NewRun {
  /** The id of the run, chosen by the caller. */
  id: string
  /** The name of its job. */
  jobName: string
  /** Its input, encoded. */
  payload: string | null
  /** A second run of the same job with this key is not stored. */
  idempotencyKey: string | null
  /** Of all runs with this key, at most one is `running`. */
  concurrencyKey: string | null
  /** It keeps that key from its first claim until it has ended: meanwhile no other run of the key is claimed. */
  holdKey: boolean
  /** Its labels, a JSON object whose values are texts; null without labels. */
  labels: string | null
  /** When it was triggered, as ISO-8601 text. */
  createdAt: string
  /** It is due this long after the store has it, in milliseconds; null without a delay. */
  delayMs: number | null
  /** It is due at this time, in milliseconds since 1970. If `delayMs` is null too, it is due at once. */
  runAt: number | null
  /** It must have ended this long after the store has it, in milliseconds; null without such a limit. */
  deadlineMs: number | null
  /**
   * It must have ended at this time, in milliseconds since 1970; null without such a limit. A run that could only start after its deadline
   * is due at its deadline, so that it fails then.
   */
  deadlineAt: number | null
  /** The run that triggered it, and whose cancel it shares; null if no run did. */
  parentRunId: string | null
  /** The step of that run that triggered it. */
  parentStep: string | null
  /** The claim token under which that run must be held: what a worker triggers is refused like what it writes, once it has lost the run. */
  parentToken: string | null
  /** True if the worker is to check its input, because the caller does not have the code of the job. Default false. */
  unchecked?: boolean
  /** The worker that is to execute it, if that one is there: see `claimOpen` of `AssignmentStore`. Default: any. */
  preferWorkerId?: string
}

/** The options of `create`. */
export interface CreateOptions {
  /** A transaction of the same database: the runs exist if and when it commits. */
  within?: unknown
}

/** The answer of `create` for one run. */
export interface Created {
  /** The run that was stored, or the one that already existed. */
  run: RunRow
  /** False if it already existed. */
  created: boolean
}

/** Which runs a worker wants to claim. */
export interface ClaimRequest {
  /** The jobs that the worker has. Runs of other jobs wait. */
  jobNames: readonly string[]
  /** One for each run that is wanted, unique for ever. */
  tokens: readonly string[]
  /** How long the lease is, in milliseconds. */
  leaseMs: number
  /** The name of the worker, for people. */
  workerId?: string
  /**
   * How long the owner may be silent after the end of its lease, in milliseconds: until then the run is not put back, only marked. Default 0.
   */
  confirmMs?: number
}

/** Which runs are taken from workers that are lost. */
export interface ReapRequest {
  /** How many workers a run may lose in a row; at the next loss it fails. `Infinity` for no limit. */
  maxRecoveries: number
  /**
   * Only the runs that are held under these claim tokens, whose owners are known to be gone: their leases count as over. They are named, so
   * that a request that arrives late takes nothing that was claimed since.
   */
  tokens?: readonly string[]
}

/** How many runs are in one phase. */
export interface RunCount {
  /** The phase. */
  phase: Phase
  /** Whether at least one attempt of them has failed. A phase may have two counts, one for each. Always false of runs that have ended. */
  isRetried: boolean
  /** How many runs. */
  count: number
}

/** Which old runs are removed. */
export interface PurgeRequest {
  /** How the runs ended. */
  statuses: readonly TerminalStatus[]
  /** How long ago they ended at least, in milliseconds. */
  olderThanMs: number
  /** Only runs of these jobs. Default: of all jobs. */
  jobNames?: readonly string[]
  /** How many runs are removed at most, because a long transaction would hold up others. */
  limit: number
}

/** How many old runs one transaction removes. It is short, because others want to write as well. */
export const PURGE_PAGE = 200

/** How many lost runs one call takes back; a larger backlog takes several calls. */
export const REAP_MAX = 50

/** A lease further ahead than this was written by a broken clock and counts as over. */
export const LEASE_MS_MAX = 24 * 60 * 60 * 1000

/** A run that was taken from a lost worker. */
export interface Reaped {
  /** The run as it is now. */
  run: RunRow
  /**
   * What became of it: it is pending again, or it ended as cancelled, or as failed because its deadline was over or because it lost too
   * many workers. `confirm`: it was only marked, because its owner may still come back.
   */
  move: 'confirm' | 'reclaim' | 'reclaimCancelled' | 'reclaimTimedOut' | 'reclaimCrashLoop'
}

/** The failure of a run that failed because its worker was lost. */
export function lossOf(code: 'crash_loop' | 'timeout', message: string): Failure {
  return { name: 'DurablyError', code, message }
}

/** The option of commands that makes them conditional. */
export interface IfVersion {
  /**
   * The `version` that the run or the schedule must still have, or the settings. If it has another, nothing is changed, and the call rejects with the code
   * `version_mismatch`. Default: any version.
   */
  ifVersion?: number
}

/** The options of `cancel`, `retry` and `deleteRun`, and of the commands about schedules. */
export interface CommandOptions extends IfVersion, ActorOption {}

/** The options of a store's `cancel`, `retry` and `delete`. */
export interface StoreCommand extends IfVersion, Audited {}

/** The run has another version than the one that was asked for: nothing was done. */
export interface Changed {
  /** Always `changed`. */
  outcome: 'changed'
  /** The version that the run has. */
  version: number
}

/** What `cancel` did. */
export interface CancelOutcome {
  /** `cancelled`: it will not start. `requested`: its owner will stop. `refused`: it had already ended. */
  outcome: 'cancelled' | 'requested' | 'refused'
  /** The run as it is now. */
  run: RunRow
  /** The runs below it that were changed too, by id. */
  others: StoppedRun[]
}

/** A run that was changed because a run above it was cancelled. */
export interface StoppedRun {
  /** `cancelled`: it will not start. `requested`: its owner will stop. */
  outcome: 'cancelled' | 'requested'
  /** The id of the run. */
  id: string
  /** The name of its job. */
  jobName: string
}

/** What `retry` did. */
export interface RetryOutcome {
  /** `retried`: it is pending again. `refused`: it was left as it is. */
  outcome: 'retried' | 'refused'
  /** The run as it is now. */
  run: RunRow
}

/**
 * A run can go when it has ended and nobody needs it any more:
 *   - The run that triggered it is gone, has completed or was cancelled. In any other state it may still ask for the result: if it has failed, when it is retried.
 *   - If it was cancelled, those that it triggered have ended: below it a cancel that is asked for again finds them.
 */
export interface DeleteOutcome {
  /** `deleted`, or `refused`: it was left as it is. */
  outcome: 'deleted' | 'refused'
  /** The status of the run. */
  status: RunStatus
}

/** Which runs are listed. Every condition that is given must hold; an empty list of values matches no run. */
export interface RunQuery {
  /** One of these statuses. */
  statuses?: readonly RunStatus[]
  /** One of these phases. */
  phases?: readonly Phase[]
  /** Of failed runs, only those that ran out of time (reason `timeout`), or, if false, only the others. It does not concern runs that have not failed. */
  timedOut?: boolean
  /** One of these jobs. */
  jobNames?: readonly string[]
  /** This concurrency key. */
  concurrencyKey?: string
  /** This idempotency key. */
  idempotencyKey?: string
  /** Triggered by this run. */
  parentRunId?: string
  /** Made by this schedule. */
  scheduleId?: string
  /** All of these labels; an empty object matches every run. */
  labels?: Labels
  /** This id or a greater one. */
  fromId?: string
  /** A smaller id than this. */
  beforeId?: string
  /** Ended at this time or later, in milliseconds. With this condition or the next one, the list is ordered by `finishedAt`, then by id. */
  finishedFrom?: number
  /** Ended before this time, in milliseconds. */
  finishedBefore?: number
  /** True: `payload` and `output` of the rows are null, and are not read. */
  withoutValues?: boolean
  /** True lists the runs in the opposite order. */
  oldestFirst?: boolean
  /** How many runs are listed at most. Default: all. */
  limit?: number
  /** Only runs that come after this place in the order of the list. */
  after?: RunPlace
}

/** A place in a list of runs. */
export interface RunPlace {
  /** The id of the run at this place. */
  id: string
  /** When that run ended, in a list that is ordered by it. */
  finishedAt?: number
}

/** The run that has been due for longest. */
export interface OldestDue {
  /** The id of the run. */
  id: string
  /** The name of its job. */
  jobName: string
  /** When it was due, in milliseconds since 1970. */
  runAt: number
  /** How long ago that is by the store's clock, in milliseconds. */
  lagMs: number
}

/** What an idle worker needs to know. */
export interface Probe {
  /** Whether a run of these jobs is pending and due. Its concurrency key may be held. */
  due: boolean
  /** Whether a lease is over. */
  stale: boolean
  /** Milliseconds until a pending run is due or a lease ends, whichever is first; null if there is neither. */
  nextInMs: number | null
  /**
   * Milliseconds until the next duty of the elected process is due, 0 or less if one is due now; absent if there is none. See
   * `ClusterStore`.
   */
  dutyInMs?: number
  /** True if events were not delivered yet; absent if there are none. */
  hasEvents?: boolean
}
