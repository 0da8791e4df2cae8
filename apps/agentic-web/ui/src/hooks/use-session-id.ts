// Which session is open: the part of the address after `#`, so that a reload, a bookmark and the back button work.
import { useSyncExternalStore } from 'react'

export function useSessionId(): string | null {
  return useSyncExternalStore(subscribe, () => /^#([\w-]+)$/.exec(location.hash)?.[1] ?? null)
}

export function openSession(sessionId: string | null): void {
  location.hash = sessionId ?? ''
}

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}
