import { DurablyError, hasCode } from '../../../model/errors.ts'

/** A table that exists before Durably created it, or that lacks the columns Durably gives it, belongs to another program. */
export function notOurs(error: unknown): unknown {
  if (!(error instanceof Error) || !(hasCode(error, 'not_migrated') || /already exists|constraint/.test(error.message))) return error
  return new DurablyError(
    'store_rejected',
    'the database has tables or indexes with the names of those of Durably that are not its own, so nothing was created. Give Durably ' +
      `a place of its own: another file with sqlite(), postgres(url, { schema: 'durably' }) with Postgres, or the option tablePrefix (${error.message})`,
    { cause: error },
  )
}
