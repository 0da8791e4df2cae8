import { timeMs } from './duration.ts'
import { DurablyError } from './errors.ts'
import type { Time } from './run-filter.ts'

/** In milliseconds since 1970. */
export function readTime(field: string, given: Time): number {
  if (typeof given !== 'string') return timeMs(field, given)
  const ms = ISO.test(given) ? Date.parse(given) : Number.NaN
  if (Number.isNaN(ms))
    throw new DurablyError('invalid_argument', `${field} must be a time such as 2026-01-31T12:00:00.000Z, got ${JSON.stringify(given)}`)
  return timeMs(field, ms)
}

/** Other forms are refused, because different runtimes read them as different times. */
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/
