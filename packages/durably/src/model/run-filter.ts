// RunFilter — which runs are asked for. What a page checks before it asks is here; `check-filter.ts` comes with the first list.
import { DurablyError } from './errors.ts'
import type { Phase } from './phase.ts'
import { RUN_STATUSES, type RunStatus } from './run.ts'

/** A point in time: a Date, milliseconds since 1970, or a text such as the `createdAt` of a run. */
export type Time = Date | number | string

export interface RunConditions {
  /** One, or any of several. */
  status?: RunStatus | readonly RunStatus[]
  /** One, or any of several. Phases change with time alone: a sleep is over, a lease has run out. */
  phase?: Phase | readonly Phase[]
  /** One, or any of at most 20. */
  jobName?: string | readonly string[]
  /** Created at this time or later. */
  createdAfter?: Time
  /** Created before this time. */
  createdBefore?: Time
  /** Ended at this time or later; the runs are listed by their end then, the last one first. */
  finishedAfter?: Time
  /** Ended before this time; the runs are listed by their end then, the last one first. */
  finishedBefore?: Time
  concurrencyKey?: string
  idempotencyKey?: string
  /** The run that triggered them. */
  parentRunId?: string
}

export interface RunFilter extends RunConditions {
  /** Without it all runs are returned. */
  limit?: number
  /** Where the page begins: the id of the run before it. In a list by end it is `${run.finishedAt}/${run.id}`. */
  cursor?: string
  /** `previous`: the page that comes before the run of the cursor, or the last page of all. Default `next`. */
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
