import type { ConnectionState, FollowOptions } from '../durably-client.ts'

/** Says a state once, however often it is told. */
export function tellChanges(onConnection: FollowOptions['onConnection']): (state: ConnectionState) => void {
  let told: ConnectionState | null = null
  return (state) => {
    if (state !== told) onConnection?.(state)
    told = state
  }
}
