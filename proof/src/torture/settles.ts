import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than all timeouts on its way together: what has not settled by then never will. */
const SETTLE_MS_MAX = 30_000

/** False when `call` neither succeeds nor fails. */
export async function settles(call: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController()
  const late = sleep(SETTLE_MS_MAX, false, { signal: settled.signal })
  try {
    return await Promise.race([
      call.then(
        () => true,
        () => true,
      ),
      late,
    ])
  } finally {
    settled.abort()
  }
}
