// A database that cannot be used right now: gone, starting, overloaded. What was asked may be asked again.
import { DurablyError } from '@coji/durably'

const PASSING: ReadonlySet<string> = new Set(['store_unavailable', 'store_busy', 'transaction_timeout', 'shutdown'])

/** Codes of pg and Node for a server that is gone, starting or shutting down. */
const CODES = /^(?:ECONN|ETIMEDOUT|EPIPE|57P0|08|53300)/
/** What pg and its pool say without a code. */
const WORDS = /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect)/

export function isOutage(error: unknown): boolean {
  if (error instanceof DurablyError) return PASSING.has(error.code)
  if (!(error instanceof Error)) return false
  const code: unknown = Reflect.get(error, 'code')
  return (typeof code === 'string' && CODES.test(code)) || WORDS.test(error.message)
}

const ATTEMPTS_MAX = 8
const PAUSE_MS_MAX = 15_000

/** For a job whose own queries meet an outage: it goes on from its last recorded step. What else it throws ends it. */
export function retryOutages(attempt: number, error: unknown): number | 'dead' {
  return isOutage(error) && attempt < ATTEMPTS_MAX ? Math.min(500 * 2 ** attempt, PAUSE_MS_MAX) : 'dead'
}
