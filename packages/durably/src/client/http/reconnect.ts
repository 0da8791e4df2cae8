// How long a client waits before it asks again: full jitter, so that the clients of a server that was away do not come back at once.
import type { Clock } from '../../model/env.ts'

const FIRST_PAUSE_MS = 250
/** Who looks at a page waits no longer than this once the server is back. */
const LONGEST_PAUSE_MS = 3000

/** After so many failures in a row; `firstMs` is the range of the first pause, where the server asked for a longer one. */
export function pauseMs(env: Clock, failures: number, firstMs = 0): number {
  const ceiling = Math.max(FIRST_PAUSE_MS, firstMs) * 2 ** Math.min(failures - 1, 10)
  return Math.ceil(env.random() * Math.min(LONGEST_PAUSE_MS, ceiling))
}
