// Authorization. Nothing is allowed that `authorize` did not allow.
//   A1. Only `true` allows; an error is passed on and allows nothing.
//   A2. A run, or a schedule, that the caller may not read gets the same answer as one that does not exist.
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import type { Schedule } from '../model/schedule.ts'

/** What a caller wants to do, for `authorize`. */
export type Action =
  /** Trigger a run. */
  | 'runs:trigger'
  /** List or watch runs. */
  | 'runs:list'
  /** Read a run, its steps, logs and events. */
  | 'runs:read'
  /** Cancel a run. */
  | 'runs:cancel'
  /** Retry a failed run. */
  | 'runs:retry'
  /** Send a signal to a run. */
  | 'runs:signal'
  /** Decide about an effect of a run. */
  | 'runs:decide'
  /** Delete a run. */
  | 'runs:delete'
  /** List the jobs. */
  | 'jobs:list'
  /** Count runs by phase. */
  | 'stats:read'
  /** List schedules. */
  | 'schedules:list'
  /** Read a schedule and its next times. */
  | 'schedules:read'
  /** Create, define anew, pause, resume or delete a schedule. */
  | 'schedules:write'
  /** Trigger a schedule by hand. */
  | 'schedules:trigger'
  /** Send an event. */
  | 'events:send'
  /** Read the settings of all processes. */
  | 'settings:read'
  /** Change the settings of all processes. */
  | 'settings:write'
  /** Read which process is elected, and the workers in the register. */
  | 'cluster:read'
  /** Attach, drain or detach a worker. */
  | 'cluster:write'
  /** Read who did what. */
  | 'audit:read'

/**
 * Decides whether a request is allowed: only `true` allows it. `run` is the run that the request is about, `schedule` the schedule, and
 * `jobName` the job of it, or the job to be triggered or scheduled, and `eventName` the event to be sent; all are absent if the request is
 * about no single one. It must not read the body of the request.
 */
export type Authorize = (
  request: Request,
  action: Action,
  run?: Run,
  jobName?: string,
  schedule?: Schedule,
  eventName?: string,
) => boolean | Promise<boolean>

/** Allows everything to every caller: for a server that only trusted programs can reach. */
export function allowAll(): Authorize {
  return ALLOW_ALL
}

const ALLOW_ALL: Authorize = () => true

/** Whether `authorize` may look at the input or the output of a run. */
export function mayLookAtValues(authorize: Authorize): boolean {
  return authorize !== ALLOW_ALL
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
  if (!(await isAllowed(authorize, request, action, run, jobName))) throw forbidden(action, run && { runId: run.id })
}

export function forbidden(action: Action, about?: { runId: string }): DurablyError {
  return new DurablyError('forbidden', `${action} is not allowed`, about)
}
