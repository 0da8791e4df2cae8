import { DurablyError } from '../model/errors.ts'

/** Reads a parameter that may be given once. */
export function queryParameter(query: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = query.getAll(name)
  if (others.length > 0) throw new DurablyError('invalid_argument', `${name} is given ${others.length + 1} times; give it once`)
  return value
}
