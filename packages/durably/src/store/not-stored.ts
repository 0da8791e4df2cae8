import { DurablyError } from '../model/errors.ts'
import type { NewRun } from './runs.ts'

/** Why a run that should have been stored was not. */
export function notStored({ id, parentRunId, parentToken }: NewRun): DurablyError {
  if (parentToken === null) return new DurablyError('store_unavailable', `create: run ${id} was neither stored nor found`)
  return new DurablyError(
    'run_not_found',
    `run ${parentRunId} does not run under this claim in this database, so it can trigger nothing; a child must be defined on the same database`,
  )
}
