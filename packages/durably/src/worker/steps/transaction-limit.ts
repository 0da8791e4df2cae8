import { type Duration, durationMs } from '../../model/duration.ts'
import { type Env, within } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'

const LONGEST_MS = 5000

/** Heartbeats wait for the transaction, so it must end long before the lease does. */
export function transactionLimitMs(leaseMs: number, timeout: Duration | undefined): number {
  const most = Math.floor(leaseMs / 3)
  if (timeout === undefined) return Math.min(LONGEST_MS, most)
  const ms = durationMs('timeout', timeout)
  if (ms <= most) return ms
  throw new DurablyError(
    'invalid_argument',
    `timeout of a transaction must be at most ${most} ms, a third of staleThreshold; got ${timeout}`,
  )
}

/**
 * While the database waits for a lock of somebody else, it cannot undo the transaction: the statement must end first. Later than the limit, so
 * that the limit is the reason, and still before the lease is over if the statement was sent at the last moment.
 */
export function statementLimitMs(limitMs: number): number {
  return Math.ceil(limitMs * 1.25)
}

export async function withinTransactionLimit<T>(env: Env, name: string, limitMs: number, work: Promise<T>): Promise<T> {
  if (await within(env, limitMs, work)) return work
  const message = `transaction ${JSON.stringify(name)} took longer than ${limitMs} ms and was undone; keep it short, or raise its timeout`
  throw new DurablyError('transaction_timeout', message)
}
