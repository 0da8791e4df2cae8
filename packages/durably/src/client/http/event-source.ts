// messages — the messages of an event stream, over as many connections as necessary. What EventSource cannot do: ADR 0011.
//   E1. Each connection begins at the cursor that `target` returns, so events that one connection lost come with the next.
//   E2. It ends when the server answers 204 and throws when the server refuses (4xx). After any other failure it connects again.
//   E3. The pauses grow until a message has arrived, so a server that accepts connections and drops them is not overloaded.
import { sleepUnlessAborted, unlessAborted } from '../../model/abort.ts'
import type { ConnectionState } from '../durably-client.ts'
import { type ConnectionDeps, connection, type ServerMessage, type Target } from './connection.ts'
import { retryPauseMs } from './http-request.ts'
import type { PageVisibility } from './page-visibility.ts'

const RETRY_AFTER_MS_MAX = 60_000

export interface EventSourceDeps extends ConnectionDeps {
  page: PageVisibility
}

export interface Follower {
  /** What to request; called for each connection. `null` ends the stream. */
  target: () => Target | null
  onState: (state: ConnectionState) => void
  /** Gets each connection as it begins. To abort it opens another one at once, for a new target. */
  onConnecting?: (connection: AbortController) => void
  signal: AbortSignal
}

export async function* messages(
  deps: EventSourceDeps,
  { target, onState, onConnecting, signal }: Follower,
): AsyncGenerator<ServerMessage, void> {
  const { env, page } = deps
  let current = new AbortController()
  const leave = () => current.abort()
  const unwatch = page.onAway(leave)
  signal.addEventListener('abort', leave)
  try {
    for (let failures = 0; ; ) {
      await unlessAborted(signal, page.back())
      const asked = target()
      if (signal.aborted || !asked) return
      current = new AbortController()
      onConnecting?.(current)
      const ending = yield* connection(deps, asked, current.signal, () => onState('live'))
      if (signal.aborted || ending.type === 'over') return
      if (ending.type === 'refused') throw ending.error
      if (ending.hadMessages) failures = 0
      if (current.signal.aborted && !page.isAway) continue
      onState('reconnecting')
      // There is no pause, so that a person who comes back to the page does not wait.
      if (page.isAway) continue
      const atLeastMs = Math.min(ending.retryAfterMs, RETRY_AFTER_MS_MAX)
      await sleepUnlessAborted(env, retryPauseMs(env, failures++, atLeastMs, ending.retryMs), signal)
    }
  } finally {
    signal.removeEventListener('abort', leave)
    unwatch()
  }
}
