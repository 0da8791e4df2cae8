import { DurablyError } from './errors.ts'

/** A Postgres index entry holds 2,704 bytes; two names and a prefix fit with room to spare. */
export const NAME_BYTES_MAX = 512

/** Names and keys are compared by the database, so they must mean the same on every database. */
export function checkName(field: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(field, `must be a string, got ${value === null ? 'null' : typeof value}`)
  if (value === '') throw invalid(field, 'must not be empty')
  if (value.includes('\0')) throw invalid(field, 'must not contain a NUL character')
  if (!value.isWellFormed()) throw invalid(field, 'must be well-formed Unicode (it contains a lone surrogate)')
  // A UTF-16 unit takes at most three bytes, so short names need no counting.
  const bytes = value.length * 3 <= NAME_BYTES_MAX ? 0 : utf8Bytes(value)
  if (bytes > NAME_BYTES_MAX)
    throw invalid(field, `must be at most ${NAME_BYTES_MAX} bytes of UTF-8, got ${bytes}; use a shorter one or a hash of it`)
  return value
}

export function utf8Bytes(value: string): number {
  return new TextEncoder().encode(value).length
}

function invalid(field: string, problem: string): DurablyError {
  return new DurablyError('invalid_name', `${field} ${problem}`)
}
