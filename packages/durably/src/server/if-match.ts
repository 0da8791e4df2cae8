import { DurablyError } from '../model/errors.ts'
import type { IfVersion } from '../store/runs.ts'

/** The version that the caller has seen, from the ETag of a run or a schedule. */
export function ifMatch(request: Request): IfVersion {
  const text = request.headers.get('If-Match')
  if (text === null || text.trim() === '*') return {}
  const version = /^\s*"(\d{1,10})"\s*$/.exec(text)?.[1]
  if (version === undefined)
    throw new DurablyError('invalid_argument', `If-Match must be a version in quotes, such as "3", got ${JSON.stringify(text)}`)
  return { ifVersion: Number(version) }
}
