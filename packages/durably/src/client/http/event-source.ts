// EventSource — the messages of a server, over as many connections as it takes. The browser's own gives up for ever on one 502.
//   E1. Every connection asks for what is missing: `target` says where it begins, so what was lost with one comes with the next.
//   E2. It ends when the server says so (204) and fails when it refuses (4xx); everything else passes, and is tried again.
//   E3. The pause grows until a message came: a server that accepts and drops is not stormed.
import { sleepUnlessAborted, unlessAborted } from '../../model/abort.ts'
import { backoffMs } from '../../model/backoff.ts'
import type { ConnectionState } from '../durably-client.ts'
import { type ConnectionDeps, connection, type ServerMessage, type Target } from './connection.ts'
import { RETRY_BACKOFF } from './http-request.ts'
import type { PageVisibility } from './page-visibility.ts'

const RETRY_AFTER_MS_MAX = 60_000

export interface EventSourceDeps extends ConnectionDeps {
  page: PageVisibility
}

export interface Follower {
  /** What to ask for; called for each connection. Nothing ends it. */
  target: () => Target | null
  onState: (state: ConnectionState) => void
  /** Gets each connection as it begins: who aborts it has another one at once, for another target. */
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
      // Who comes back to the page shall not wait.
      if (page.isAway) continue
      const firstMs = Math.max(RETRY_BACKOFF.firstMs, ending.retryMs ?? 0)
      const pause = backoffMs(env, failures++, { ...RETRY_BACKOFF, firstMs })
      await sleepUnlessAborted(env, Math.max(pause, Math.min(ending.retryAfterMs, RETRY_AFTER_MS_MAX)), signal)
    }
  } finally {
    signal.removeEventListener('abort', leave)
    unwatch()
  }
}
