import type { ConnectionState, FollowOptions } from './durably-client.ts'

/** Calls `onConnection` when the state has changed, and ignores repetitions. */
export function connectionReporter(onConnection: FollowOptions['onConnection']): (state: ConnectionState) => void {
  let last: ConnectionState | null = null
  return (state) => {
    if (state === last) return
    last = state
    try {
      onConnection?.(state)
    } catch {
      // The state is only for a page to show, and others may share the connection.
    }
  }
}
