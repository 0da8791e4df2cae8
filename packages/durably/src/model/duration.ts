// Duration — a length of time as people write it: milliseconds, or '500ms', '30s', '5m', '1h', '2d', '1w'.
import { DurablyError } from './errors.ts'

/**
 * A length of time: a number of milliseconds, or a text such as `'500ms'`, `'30s'`, `'5m'`, `'1h'`, `'2d'` or `'1w'`. At most 100 years.
 */
export type Duration = number | `${number}${Unit}`
type Unit = keyof typeof UNITS

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/** A hundred years: longer is a mistake in the unit. */
export const DURATION_MS_MAX = 100 * 365 * UNITS.d

/** The last day of the year 9999: what waits for ever is due then. */
export const NEVER_MS = 253_402_214_400_000

export function durationMs(field: string, duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : writtenMs(duration)
  if (!Number.isFinite(ms) || ms < 0 || ms > DURATION_MS_MAX) {
    throw new DurablyError(
      'invalid_argument',
      `${field} must be a number of milliseconds or a text such as "30s", "5m", "1h", "2d", at most 100 years; got ${quoted(duration)}`,
    )
  }
  return Math.ceil(ms)
}

function writtenMs(written: unknown): number {
  const [, amount, unit] = (typeof written === 'string' && WRITTEN.exec(written)) || []
  return amount === undefined ? Number.NaN : Number(amount) * UNITS[unit as Unit]
}

/** A point in time as people give it: a Date, or milliseconds since 1970. */
export function timeMs(field: string, time: Date | number): number {
  const ms = time instanceof Date ? time.getTime() : time
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > NEVER_MS) {
    throw new DurablyError(
      'invalid_argument',
      `${field} must be a Date or a time in milliseconds since 1970, before the year 10000; got ${quoted(time)}`,
    )
  }
  return ms
}

/** Not everything has a text. */
function quoted(value: unknown): string {
  try {
    return (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 100)
  } catch {
    return typeof value
  }
}
