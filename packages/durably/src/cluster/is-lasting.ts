import { DurablyError, hasCode, isBroken, isPassing } from '../model/errors.ts'

/**
 * Whether an error is about what was to be written, so that it would come again with every look. Others must not wait for that; the rest is
 * about the database as a whole.
 */
export function isLasting(error: unknown): boolean {
  const isOfDatabase =
    isPassing(error) ||
    isBroken(error) ||
    (['store_closed', 'not_migrated', 'schema_too_new'] as const).some((code) => hasCode(error, code))
  return !isOfDatabase
}

/** Says where it occurred: an error of a database does not name the schedule or the event. */
export function withPlace(place: string, error: unknown): unknown {
  if (!(error instanceof DurablyError)) return error
  return new DurablyError(error.code, `${place}: ${error.message}`, { cause: error })
}
