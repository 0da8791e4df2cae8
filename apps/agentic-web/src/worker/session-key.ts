/**
 * At most one run of a session executes at a time. A run that was given back, or that waits for its next attempt, does not hold the key
 * meanwhile; the oldest is claimed first, so it is overtaken only if it waits.
 */
export function sessionKey(sessionId: string): { concurrencyKey: string } {
  return { concurrencyKey: `session/${sessionId}` }
}
