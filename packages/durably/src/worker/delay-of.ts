import type { Env } from '../model/env.ts'
import { nextAttempt, type RetryPolicy } from '../model/retry-policy.ts'

/** The delay that a policy gives after a failure. A policy that throws is reported and counts as giving up: the original failure stands. */
export function delayOf(
  { env, report }: { env: Env; report: (error: unknown, runId?: string) => void },
  runId: string,
  policy: RetryPolicy,
  attempt: number,
  error: unknown,
): number | 'dead' {
  try {
    return nextAttempt(policy, attempt, error, () => env.random())
  } catch (broken) {
    report(broken, runId)
    return 'dead'
  }
}
