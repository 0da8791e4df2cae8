import { DurablyError } from '../model/errors.ts'

/** What a query says once; said twice, nobody knows which of them was meant. */
export function said(query: URLSearchParams, name: string): string | null {
  const [value = null, ...others] = query.getAll(name)
  if (others.length > 0) throw new DurablyError('invalid_argument', `${name} is given ${others.length + 1} times; give it once`)
  return value
}
