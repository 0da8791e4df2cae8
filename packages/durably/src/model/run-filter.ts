// RunFilter — which runs are asked for. It is checked in the same way on the instance and in the HTTP client.
import { DurablyError } from './errors.ts'
import { RUN_STATUSES, type RunStatus } from './run.ts'

export interface RunFilter {
  status?: RunStatus
  jobName?: string
  /** Without it all runs are returned. */
  limit?: number
  /** The id of the last run of the page before. */
  cursor?: string
}

export const WATCHED_RUNS = 50
const WATCHED_RUNS_MAX = 200

export function checkFilter({ status, limit }: RunFilter): void {
  if (status !== undefined && !RUN_STATUSES.includes(status)) {
    throw new DurablyError('invalid_argument', `status must be one of ${RUN_STATUSES.join(', ')}, got ${JSON.stringify(status)}`)
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new DurablyError('invalid_argument', `limit must be a positive whole number, got ${limit}`)
  }
}

export function checkWatchFilter(filter: RunFilter): void {
  checkFilter(filter)
  if ((filter.limit ?? 0) > WATCHED_RUNS_MAX)
    throw new DurablyError('invalid_argument', `limit must be at most ${WATCHED_RUNS_MAX} for runs that are watched, got ${filter.limit}`)
}
