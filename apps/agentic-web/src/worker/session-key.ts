/** At most one run of a session is under way, also while it waits, so that no message is answered before the one that came earlier. */
export function sessionKey(sessionId: string): { concurrencyKey: string; holdKey: true } {
  return { concurrencyKey: `session/${sessionId}`, holdKey: true }
}
