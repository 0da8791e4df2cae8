import type { ConnectionState, FollowOptions } from './durably-client.ts'

/** Says a state once, however often it is told. */
export function tellChanges(onConnection: FollowOptions['onConnection']): (state: ConnectionState) => void {
  let told: ConnectionState | null = null
  return (state) => {
    if (state === told) return
    told = state
    try {
      onConnection?.(state)
    } catch {
      // It is for a page to show: nothing depends on it, and others may share the connection.
    }
  }
}
