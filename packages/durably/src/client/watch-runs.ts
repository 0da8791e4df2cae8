// Watching runs — the newest that match, now and whenever they changed.
import type { RunPages } from '../events/run-pages.ts'
import { unlessAborted } from '../model/abort.ts'
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import type { RunQuery } from '../store/runs.ts'
import { type Pulled, pulled } from './pulled.ts'
import { checkFilter, type RunFilter } from './run-reader.ts'

const WATCHED_RUNS = 50
const WATCHED_RUNS_MAX = 200

export interface WatchFilter extends Omit<RunFilter, 'cursor' | 'limit'> {
  /** Default 50, at most 200. */
  limit?: number
}

export interface WatchOptions {
  /** Ends the watch: what is being read rejects with its reason. */
  signal?: AbortSignal
}

export type RunsSubscription = Pulled<readonly Run[]>

export function watchRuns(pages: RunPages, filter: WatchFilter = {}, { signal }: WatchOptions = {}): RunsSubscription {
  const query = watchQuery(filter)
  return pulled((closed) => pagesOf(pages, query, closed), signal)
}

async function* pagesOf(pages: RunPages, query: RunQuery, closed: AbortSignal): AsyncGenerator<readonly Run[], void> {
  for (let seen: string | null = null; ; ) {
    const { page, done } = pages.next(query, seen)
    try {
      const answer = await unlessAborted(closed, page)
      if (!answer) return
      seen = answer.print
      yield answer.runs
    } finally {
      done()
    }
  }
}

function watchQuery({ status, jobName, limit = WATCHED_RUNS }: WatchFilter): RunQuery {
  checkFilter({ limit, ...(status !== undefined && { status }) })
  if (limit > WATCHED_RUNS_MAX)
    throw new DurablyError('invalid_argument', `limit must be at most ${WATCHED_RUNS_MAX} for runs that are watched, got ${limit}`)
  return { limit, ...(status !== undefined && { status }), ...(jobName !== undefined && { jobName }) }
}
