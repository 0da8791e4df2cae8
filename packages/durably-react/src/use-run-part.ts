// useRunPart — a component sees a part of what is known of a run, and is rendered when that part has changed.
import { useCallback, useSyncExternalStore } from 'react'
import { useObservers } from './durably-provider.tsx'
import type { RunObserver } from './observe/run-observer.ts'

export interface RunPart<T> {
  /** The same value as long as nothing changed. */
  of(observer: RunObserver): T
  /** Before anything is known; on a server always. */
  unknown: T
  /** Whether it is made of the log from its beginning. */
  history: boolean
}

export function useRunPart<T>(runId: string | null, { of, unknown, history }: RunPart<T>): T {
  const observers = useObservers()
  const join = useCallback(
    (listener: () => void) => (runId === null ? () => {} : observers.joinRun(runId, listener, { history })),
    [observers, runId, history],
  )
  const now = () => {
    const observer = runId === null ? undefined : observers.run(runId)
    return observer ? of(observer) : unknown
  }
  return useSyncExternalStore(join, now, () => unknown)
}
