// RunFilter — which runs are asked for. What a page checks before it asks is here; `check-filter.ts` comes with the first list.
import type { ClusterState } from './cluster-state.ts'
import { DurablyError } from './errors.ts'
import type { Labels } from './labels.ts'
import type { Phase } from './phase.ts'
import { RUN_STATUSES, type RunStatus } from './run.ts'

/** A point in time: a Date, milliseconds since 1970, or a text such as the `createdAt` of a run. */
export type Time = Date | number | string

/** Which runs are meant. Every condition that is given must hold; none means all runs. */
export interface RunConditions {
  /** This status, or any of several. */
  status?: RunStatus | readonly RunStatus[]
  /** This phase, or any of several. A phase can change by time alone, when a sleep ends or a lease expires. */
  phase?: Phase | readonly Phase[]
  /** This state in the words of a cluster, or any of several: what `clusterState` of `@coji/durably/cluster` says of a run. */
  clusterState?: ClusterState | readonly ClusterState[]
  /** Runs of this job, or of any of several, at most 20. */
  jobName?: string | readonly string[]
  /** Triggered at this time or later. */
  createdAfter?: Time
  /** Triggered before this time. */
  createdBefore?: Time
  /** Ended at this time or later. The runs are then listed by when they ended, the last one first. */
  finishedAfter?: Time
  /** Ended before this time. The runs are then listed by when they ended, the last one first. */
  finishedBefore?: Time
  /** Triggered with this concurrency key. */
  concurrencyKey?: string
  /** Triggered with this idempotency key. */
  idempotencyKey?: string
  /** Triggered by this run, with `ctx.trigger` or `ctx.invoke`. */
  parentRunId?: string
  /** Created by this schedule, also by hand. */
  scheduleId?: string
  /** With all of these labels. Name the one that the fewest runs have first. */
  labels?: Labels
}

/** Which runs `getRuns` returns, and which page of them. */
export interface RunFilter extends RunConditions {
  /** How many runs are returned at most. Default: all that match. */
  limit?: number
  /**
   * The id of the run before the page, normally the last run of the page before. If the list is ordered by when runs ended, it is
   * `${run.finishedAt}/${run.id}`.
   */
  cursor?: string
  /** False: the runs come without their inputs and outputs, which may be large: `payload` and `output` are undefined then. Default true. */
  values?: boolean
  /** `previous`: the page before the run of the cursor, or, without a cursor, the last page of all. Default `next`. */
  direction?: 'next' | 'previous'
}

export const WATCHED_RUNS = 50
const WATCHED_RUNS_MAX = 200

/** At once, on the instance and in the HTTP client. */
export function checkWatchFilter({ status = [], limit = 1 }: RunFilter): void {
  for (const one of [status].flat()) if (!RUN_STATUSES.includes(one)) throw wrong('status', `one of ${RUN_STATUSES.join(', ')}`, one)
  if (!(Number.isSafeInteger(limit) && limit > 0)) throw wrong('limit', 'a positive whole number', limit)
  if (limit > WATCHED_RUNS_MAX) throw wrong('limit', `at most ${WATCHED_RUNS_MAX} for runs that are watched`, limit)
}

export function wrong(field: string, shouldBe: string, got: unknown): DurablyError {
  return new DurablyError('invalid_argument', `${field} must be ${shouldBe}, got ${typeof got === 'string' ? JSON.stringify(got) : got}`)
}
