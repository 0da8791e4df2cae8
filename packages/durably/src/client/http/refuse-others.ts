import { DurablyError } from '../../model/errors.ts'

/** Options that nobody has asked for: a misspelt one would otherwise be ignored. Names that reach the server are refused there, with the nearest one. */
export function refuseOthers(others: object): void {
  for (const name in others) throw new DurablyError('invalid_argument', `there is no option "${name}"`)
}
