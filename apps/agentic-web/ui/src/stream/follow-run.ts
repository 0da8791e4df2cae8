// Follows a run until its log says that it has ended, over as many connections as that takes.
//   F1. A stream that ends without `done` was cut off, whatever the reason. The next one begins at the cursor.
//   F2. The pause between connections grows to five seconds while none succeeds in bringing something.
//   F3. A hidden page holds no connection: a browser allows six per server over HTTP/1.1. It reads the rest when it is shown again.
import type { LogEntry } from '../state/run-log.ts'
import { connect } from './connect.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000

export interface Follower {
  runId: string
  /** What the page has seen already. */
  after: number
  signal: AbortSignal
  onEntries: (entries: LogEntry[]) => void
  /** Whether there is a connection, for a hint on the page and nothing else. */
  onConnection: (isOpen: boolean) => void
  onOtherLog: () => void
}

/** `unknown`: there is nothing to follow, and the log did not say how the run ended. The session has to be read again. */
export async function followRun(follower: Follower): Promise<'done' | 'unknown' | 'aborted'> {
  const { signal } = follower
  let cursor = follower.after
  let pauseMs = FIRST_PAUSE_MS
  let isDone = false
  while (!signal.aborted) {
    await visible(signal)
    const connection = new AbortController()
    whenHidden(() => connection.abort(), connection.signal)
    const end = await connect({
      runId: follower.runId,
      after: cursor,
      signal: AbortSignal.any([signal, connection.signal]),
      onOpen: () => follower.onConnection(true),
      onEntries(entries) {
        pauseMs = FIRST_PAUSE_MS
        cursor = entries.at(-1)?.seq ?? cursor
        isDone ||= entries.some(({ events }) => events.some(({ type }) => type === 'done'))
        follower.onEntries(entries)
      },
    })
    connection.abort()
    if (signal.aborted) break
    if (isDone) return 'done'
    if (end === 'gone' || end === 'seen') return 'unknown'
    if (end === 'other-log') {
      cursor = 0
      follower.onOtherLog()
    }
    if (document.visibilityState === 'hidden') continue
    follower.onConnection(false)
    await pause(pauseMs * (0.75 + Math.random() / 2), signal)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
  return 'aborted'
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

/** Resolves when the page is shown. */
function visible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve()
  return new Promise((resolve) => {
    const check = () => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', check)
      signal.removeEventListener('abort', check)
      resolve()
    }
    document.addEventListener('visibilitychange', check)
    signal.addEventListener('abort', check)
  })
}

function whenHidden(then: () => void, signal: AbortSignal): void {
  const check = () => {
    if (document.visibilityState === 'hidden') then()
  }
  document.addEventListener('visibilitychange', check, { signal })
}
