import { DurablyError } from './errors.ts'

/** The checks of a subscription, the same on the instance and in the HTTP client. */
export function checkSubscription(runId: string, after: number): void {
  if (typeof runId !== 'string') throw new DurablyError('invalid_argument', `subscribe needs the id of a run, got ${String(runId)}`)
  if (!Number.isSafeInteger(after) || after < 0)
    throw new DurablyError('invalid_argument', `after must be the sequence of an event, or 0, got ${after}`)
}
