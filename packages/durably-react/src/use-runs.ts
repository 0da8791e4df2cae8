// useRuns — the runs that match a filter, newest first, live.
import type { WatchFilter } from '@coji/durably/client'
import { useCallback, useSyncExternalStore } from 'react'
import { useObservers } from './durably-provider.tsx'
import { filterKey } from './observe/observers.ts'
import { type RunsState, UNKNOWN_RUNS } from './observe/runs-observer.ts'

/** What `useRuns` returns. */
export interface UseRunsResult extends RunsState {
  /** Adds a page of older runs to the list. */
  loadMore(): Promise<void>
}

/**
 * Follows the runs that match, newest first.
 *
 * @example const { runs, hasMore, loadMore } = useRuns({ jobName: 'greet', limit: 20 })
 */
export function useRuns(filter: WatchFilter = {}): UseRunsResult {
  const observers = useObservers()
  const key = filterKey(filter)
  const join = useCallback((listener: () => void) => observers.joinRuns(key, listener), [observers, key])
  const state = useSyncExternalStore(
    join,
    () => observers.runs(key)?.state ?? UNKNOWN_RUNS,
    () => UNKNOWN_RUNS,
  )
  const loadMore = useCallback(async () => observers.runs(key)?.loadMore(), [observers, key])
  return { ...state, loadMore }
}
