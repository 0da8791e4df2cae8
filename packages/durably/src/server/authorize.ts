// Authorization. Nothing is allowed that `authorize` did not allow.
//   A1. Only `true` allows; an error is passed on and allows nothing.
//   A2. A run that the caller may not read gets the same answer as a run that does not exist.
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'

export type Action =
  | 'runs:trigger'
  | 'runs:list'
  | 'runs:read'
  | 'runs:cancel'
  | 'runs:retry'
  | 'runs:signal'
  | 'runs:decide'
  | 'runs:delete'
  | 'jobs:list'
  | 'stats:read'

/**
 * Decides about one request; it must not read the request's body. `jobName` is the job to be triggered, or the job of the run; it is
 * absent when the request is about no single job.
 */
export type Authorize = (request: Request, action: Action, run?: Run, jobName?: string) => boolean | Promise<boolean>

/** Allows everything to every caller: for a server that only trusted programs can reach. */
export function allowAll(): Authorize {
  return () => true
}

export async function isAllowed(
  authorize: Authorize,
  request: Request,
  action: Action,
  run?: Run,
  jobName = run?.jobName,
): Promise<boolean> {
  return (await authorize(request, action, run, jobName)) === true
}

export async function demand(authorize: Authorize, request: Request, action: Action, run?: Run, jobName?: string): Promise<void> {
  if (!(await isAllowed(authorize, request, action, run, jobName)))
    throw new DurablyError('forbidden', `${action} is not allowed`, run && { runId: run.id })
}
