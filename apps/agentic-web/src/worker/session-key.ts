/** At most one run of a session executes at a time. */
export function sessionKey(sessionId: string): { concurrencyKey: string } {
  return { concurrencyKey: `session/${sessionId}` }
}
