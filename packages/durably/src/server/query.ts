import { DurablyError } from '../model/errors.ts'
import { nearest } from '../model/known-keys.ts'

const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200
/** Of the values in one page, which ends with the row that exceeds it: so no answer is very large. */
export const PAGE_CHARS_MAX = 4 * 1024 * 1024

/** Reads a parameter that may be given once. */
export function queryParameter(query: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = query.getAll(name)
  if (others.length > 0) throw new DurablyError('invalid_argument', `${name} is given ${others.length + 1} times; give it once`)
  return value
}

/** A time as a filter takes it: milliseconds since 1970 are given as digits. */
export function timeParameter(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text
}

/** How many the page has at most. */
export function readLimit(query: URLSearchParams): number {
  const text = queryParameter(query, 'limit')
  if (text === null) return LIMIT_DEFAULT
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX)
    throw new DurablyError('invalid_argument', `limit must be a whole number from 1 to ${LIMIT_MAX}, got ${JSON.stringify(text)}`)
  return limit
}

/** Without this, a misspelt condition would be ignored, and the answer would be about other runs than its caller meant. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[], prefix?: string): void {
  const unknown = [...query.keys()].find((name) => !known.includes(name) && !(prefix && name.startsWith(prefix)))
  if (unknown !== undefined)
    throw new DurablyError('invalid_argument', `there is no parameter ${nearest(unknown, prefix ? [...known, `${prefix}<name>`] : known)}`)
}
