// The schedule that a path names, if the caller may read it. It is asked for each time that the schedule is read, so what is changed is what was
// allowed, also if somebody else gives the schedule another job meanwhile.
import type { Engine } from '../engine.ts'
import { DurablyError } from '../model/errors.ts'
import type { Schedule } from '../model/schedule.ts'
import { type Action, forbidden } from './authorize.ts'
import type { Call, Serve } from './call.ts'

type Schedules = Engine['cluster']['schedules']

/** A route of one schedule: the caller must be allowed to read the schedule, and then to do this. */
export function ofSchedule(action: Action, serve: (call: Call, schedules: Schedules, id: string) => Promise<Response>): Serve {
  return async (call) => {
    const id = call.params.id ?? ''
    const check = async (schedule: Schedule | null) => {
      if (!schedule || !(await mayWith(call, 'schedules:read', schedule))) throw noSuchSchedule(id)
      if (action !== 'schedules:read' && !(await mayWith(call, action, schedule))) throw forbidden(action)
    }
    return serve(call, await call.server.engine.cluster.schedules.checkedBy(check), id)
  }
}

/** `schedule` is null for one that is to be created. */
export async function mayWith(
  { server, request }: Call,
  action: Action,
  schedule: Schedule | null,
  jobName = schedule?.jobName,
): Promise<boolean> {
  return (await server.config.authorize(request, action, undefined, jobName, schedule ?? undefined)) === true
}

export function noSuchSchedule(id: string): DurablyError {
  return new DurablyError('schedule_not_found', `there is no schedule ${JSON.stringify(id)}`)
}
