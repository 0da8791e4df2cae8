// How long a client waits before it asks again: full jitter, so that the clients of a server that was away do not come back at once.
import type { Clock } from '../../model/env.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000

/** Before try number `attempt`, the first being 1. */
export function pauseMs(env: Clock, attempt: number, firstMs = FIRST_PAUSE_MS): number {
  return Math.ceil(env.random() * Math.min(LONGEST_PAUSE_MS, firstMs * 2 ** Math.min(attempt - 1, 10)))
}
