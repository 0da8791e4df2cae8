import type { Clock } from './env.ts'

export interface Backoff {
  /** The longest the first pause can be; it doubles with every failure. Default 20. */
  firstMs?: number
  /** No pause is longer. Default 1000. */
  longestMs?: number
  /** No pause is shorter. Default `firstMs`. */
  shortestMs?: number
}

/**
 * How long to wait before the next attempt, after so many failures in a row: exponential backoff with jitter, so that callers that failed
 * together do not come back together. The defaults are for calls of the database.
 */
export function backoffMs(
  env: Pick<Clock, 'random'>,
  failures: number,
  { firstMs = 20, longestMs = 1000, shortestMs = firstMs }: Backoff = {},
): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** failures)
  return Math.ceil(shortestMs + env.random() * (ceiling - shortestMs))
}
