import type { Env } from '../model/env.ts'
import { nextAttempt, type RetryPolicy } from '../model/retry-policy.ts'

/** What a policy says to a failure. One that is broken is told of, and has given up: the failure it was asked about stands. */
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
