import { backoffMs } from '../../model/backoff.ts'
import { type Env, sleep } from '../../model/env.ts'
import { isPassing } from '../../model/errors.ts'

interface Patience {
  env: Env
  leaseMs: number
  report: (error: unknown) => void
}

/** Calls again while the store is unavailable; `null` after a whole lease without an answer. */
export async function untilLeaseIsOver<T>({ env, leaseMs, report }: Patience, call: () => Promise<T>): Promise<T | null> {
  const began = env.mono()
  for (let attempt = 1; env.mono() - began < leaseMs; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (!isPassing(error)) throw error
      report(error)
      await sleep(env, backoffMs(env, attempt))
    }
  }
  return null
}
