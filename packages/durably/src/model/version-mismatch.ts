import { DurablyError } from './errors.ts'

/** `what`: the run or the schedule. Not a part of the class, because few programs meet it. */
export function versionMismatch(what: string, versions: { expected: number; actual: number }, options?: { runId: string }): DurablyError {
  const { expected, actual } = versions
  const message = `${what} is at version ${actual}, not ${expected}; nothing was changed, look at it again`
  return Object.assign(new DurablyError('version_mismatch', message, options), versions)
}
