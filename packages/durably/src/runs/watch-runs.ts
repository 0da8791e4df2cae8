// Watches the newest runs that match: yields them now and whenever they changed.
import type { RunListWatcher } from '../events/run-list-watcher.ts'
import { unlessAborted } from '../model/abort.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type Pulled, pulled } from '../model/pulled.ts'
import type { Run } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import { checkWatchFilter, WATCHED_RUNS } from '../model/run-filter.ts'
import type { RunQuery } from '../store/runs.ts'
import { checkFilterKeys } from './filter-keys.ts'

export interface WatchFilter extends Omit<RunFilter, 'cursor' | 'limit'> {
  /** Default 50, at most 200. */
  limit?: number
}

export interface WatchOptions {
  /** Ends the watch: what is being read rejects with its reason. */
  signal?: AbortSignal
}

const WATCH_OPTIONS: KeysOf<WatchOptions> = { signal: 1 }

export type RunsSubscription = Pulled<readonly Run[]>

export function watchRuns(pages: RunListWatcher, filter: WatchFilter = {}, options: WatchOptions = {}): RunsSubscription {
  checkKeys('watchRuns', options, WATCH_OPTIONS)
  checkFilterKeys('watchRuns', filter)
  checkWatchFilter(filter)
  const query = watchQuery(filter)
  return pulled((closed) => pagesOf(pages, query, closed), options.signal)
}

async function* pagesOf(pages: RunListWatcher, query: RunQuery, closed: AbortSignal): AsyncGenerator<readonly Run[], void> {
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
  return { limit, ...(status !== undefined && { status }), ...(jobName !== undefined && { jobName }) }
}
