// useRunPart — a part of the state of a run; the component is rendered when that part has changed.
import { useCallback, useSyncExternalStore } from 'react'
import { useObservers } from './durably-provider.tsx'
import type { RunObserver } from './observe/run-observer.ts'

export interface RunPart<T> {
  /** Must return the same value as long as nothing has changed. */
  of(observer: RunObserver): T
  /** The value before anything is known, also while an observer does not have the history that the part needs, and always on a server. */
  unknown: T
  /** Whether the part needs the log from its beginning. */
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
    return observer && (observer.wantsHistory || !history) ? of(observer) : unknown
  }
  return useSyncExternalStore(join, now, () => unknown)
}
