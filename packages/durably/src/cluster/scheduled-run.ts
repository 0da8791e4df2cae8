import { type Env, iso } from '../model/env.ts'
import type { ScheduleRow } from '../model/schedule.ts'
import { timeOfId } from '../model/ulid.ts'
import type { ScheduledRun } from '../store/cluster/schedules.ts'
import { jitterPlace } from './due-slots.ts'

/** The run of one time of a schedule; of none, if it is triggered by hand. */
export function scheduledRun(env: Pick<Env, 'id'>, schedule: ScheduleRow, slot: number | null): ScheduledRun {
  const id = env.id()
  return {
    id,
    jobName: schedule.jobName,
    payload: schedule.payload,
    concurrencyKey: schedule.concurrencyKey ?? queueOf(schedule),
    labels: schedule.labels,
    createdAt: iso(timeOfId(id)),
    runAt: slot === null ? null : slot + jitterPlace(schedule.id, schedule.jitterMs),
    scheduledFor: slot,
  }
}

/** Runs that must not overlap wait for each other as runs with one concurrency key do. */
function queueOf({ id, overlap }: ScheduleRow): string | null {
  return overlap === 'queue' || overlap === 'cancel' ? `schedule:${id}` : null
}
