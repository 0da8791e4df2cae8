// Schedules and the runs that they create.
//   C1. A time of a schedule is used once: `lastScheduledFor` only grows, in the transaction that creates the run. So neither a purge nor a
//       deleted run lets it be used again.
//   C2. A leader's write needs its epoch to be that of the leader now, and the schedule to have the version that it has read and no higher
//       epoch than its own: a leader that was replaced is refused, also at a schedule that its successor has not touched.
//   C3. No time is used that is later than the store's clock.
import type { RunRow } from '../../model/run.ts'
import type { ScheduleDefinition, ScheduleRow } from '../../model/schedule.ts'
import type { NewRun } from '../runs.ts'
import type { Audited } from './audit.ts'

/** The schedules. */
export interface ScheduleStore {
  /** The schedules that match, by id, and the time of the store. */
  findSchedules(query: ScheduleQuery): Promise<FoundSchedules>
  /** Creates a schedule, or defines it anew; whether it is paused, and which times were used, is kept. */
  putSchedule(schedule: NewSchedule, options?: Audited): Promise<ScheduleOutcome>
  /** Pauses a schedule, or lets it go on at a time. */
  switchSchedule(change: ScheduleSwitch, options?: Audited): Promise<ScheduleOutcome>
  /** Removes a schedule. Its runs stay. */
  deleteSchedule(id: string, version: number, options?: Audited): Promise<ScheduleOutcome>
  /** Uses times of a schedule and creates their runs, all or none, as the leader (C1–C3). */
  fireSchedule(firing: Firing): Promise<FiringOutcome>
  /** Creates a run of a schedule that is of no time, as anybody. */
  triggerSchedule(trigger: ScheduleTrigger, options?: Audited): Promise<TriggerOutcome>
}

/** Which schedules are wanted. */
export interface ScheduleQuery {
  /** Only this one. */
  id?: string
  /** Only those that are due and not paused, the one that has been due for longest first. */
  due?: boolean
  /** Only those that come after this id. */
  after?: string
  /** How many at most. */
  limit: number
}

/** The answer of `findSchedules`. */
export interface FoundSchedules {
  /** The time of the store, in milliseconds since 1970. */
  nowMs: number
  /** The schedules that match. */
  schedules: ScheduleRow[]
}

/** A schedule that is to be created or defined anew. */
export interface NewSchedule extends ScheduleDefinition {
  /** Its id. */
  id: string
  /** The version that it must have; null if it must not exist. */
  version: number | null
  /** The first time that it will use. */
  nextAt: number
}

/** A schedule that is to be paused or resumed. */
export interface ScheduleSwitch {
  /** Its id. */
  id: string
  /** The version that it must have. */
  version: number
  /** True pauses it. */
  paused: boolean
  /** The first time that it will use. */
  nextAt: number
}

/** What became of a write to a schedule: done, with the schedule as it is now, or refused because it has another version or does not exist. */
export type ScheduleOutcome =
  | { outcome: 'done'; schedule: ScheduleRow }
  | {
      outcome: 'changed'
      /** The version that it has; null if it does not exist. */
      version: number | null
    }

/** A run that a schedule creates. */
export interface ScheduledRun extends Pick<NewRun, 'id' | 'jobName' | 'payload' | 'concurrencyKey' | 'labels' | 'createdAt' | 'runAt'> {
  /** The time of the schedule that it is created for, in milliseconds since 1970; null for none. */
  scheduledFor: number | null
}

/** Times of a schedule that are used. */
export interface Firing {
  /** The epoch of the leader. */
  epoch: number
  /** The id of the schedule. */
  scheduleId: string
  /** The version that the schedule must have. */
  version: number
  /** The runs of these times, the oldest first. With `overlap: 'skip'`, only the first is created, and only if no earlier run is active. */
  runs: readonly ScheduledRun[]
  /** The last time that is used. */
  lastScheduledFor: number
  /** The first time after it. */
  nextAt: number
}

/**
 * What became of `fireSchedule`. `fired`: the times are used, now or because it was sent before. `deposed`: another process leads.
 * `changed`: the schedule has another version, is paused, does not exist, or was written by a later leader. `early`: a time is later than
 * the store's clock.
 */
export type FiringOutcome =
  | {
      outcome: 'fired'
      /** The runs that exist, in the order of the request. */
      runs: RunRow[]
    }
  | { outcome: 'deposed' | 'changed' | 'early' }

/** A run of a schedule that somebody wants now. */
export interface ScheduleTrigger {
  /** The id of the schedule. */
  scheduleId: string
  /** The version that the schedule must have. */
  version: number
  /** The run. */
  run: ScheduledRun
}

/** What became of `triggerSchedule`. */
export type TriggerOutcome =
  | {
      outcome: 'triggered'
      /** The new run. */
      run: RunRow
    }
  | {
      outcome: 'changed'
      /** The version that the schedule has; null if it does not exist. */
      version: number | null
    }
