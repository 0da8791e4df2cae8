// Watches the newest runs that match: yields them now and whenever they changed.
import type { LazyRunLists } from '../events/lazy-run-lists.ts'
import { unlessAborted } from '../model/abort.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type Pulled, pulled } from '../model/pulled.ts'
import type { Run } from '../model/run.ts'
import { checkWatchFilter, type RunConditions, WATCHED_RUNS } from '../model/run-filter.ts'
import { checkFilterKeys } from './filter-keys.ts'
import { lazyRunQuery } from './lazy-run-query.ts'

/** Which runs `watchRuns` yields. */
export interface WatchFilter extends RunConditions {
  /** How many runs are yielded at most, the newest. Default 50, at most 200. */
  limit?: number
  /** False: the runs come without their inputs and outputs, which may be large: `payload` and `output` are undefined then. Default true. */
  values?: boolean
}

/** The options of `watchRuns`. */
export interface WatchOptions {
  /** Ends the watch: reading it then rejects with the signal's reason. */
  signal?: AbortSignal
}

const WATCH_OPTIONS: KeysOf<WatchOptions> = { signal: 1 }

/** The lists that `watchRuns` yields, as a `ReadableStream` that can also be read with `for await`. */
export type RunsSubscription = Pulled<readonly Run[]>

export function watchRuns(lists: LazyRunLists, filter: WatchFilter = {}, options: WatchOptions = {}): RunsSubscription {
  checkKeys('watchRuns', options, WATCH_OPTIONS)
  checkFilterKeys('watchRuns', filter)
  checkWatchFilter(filter)
  return pulled((closed) => pagesOf(lists, { ...filter, limit: filter.limit ?? WATCHED_RUNS }, closed), options.signal)
}

async function* pagesOf(lists: LazyRunLists, filter: WatchFilter, closed: AbortSignal): AsyncGenerator<readonly Run[], void> {
  const pages = await lists.watcher()
  const { runQuery } = await lazyRunQuery(pages.env)
  const query = runQuery(filter)
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
