// Schedule — when a job runs by itself. `ScheduleRow` is what a store keeps, `Schedule` is what a user sees.
import type { Codec } from './codec.ts'
import { iso } from './env.ts'
import type { Labels } from './labels.ts'
import { isoOrNull } from './run.ts'

export const MISFIRES = ['once', 'skip', 'all'] as const
/**
 * What becomes of times that passed while no worker was there. `once`: the last of them gets a run. `skip`: none, if the last one is more
 * than 60 seconds ago. `all`: each gets a run, the last `misfireMax` of them.
 */
export type Misfire = (typeof MISFIRES)[number]

export const OVERLAPS = ['allow', 'skip', 'queue', 'cancel'] as const
/**
 * What becomes of a time at which an earlier run of the schedule has not ended. `allow`: both execute. `skip`: the time gets no run.
 * `queue`: the new run waits for the earlier one. `cancel`: the earlier one is cancelled, and the new one starts when it has ended.
 */
export type Overlap = (typeof OVERLAPS)[number]

/** What a schedule was defined with, as a store keeps it. */
export interface ScheduleDefinition {
  /** The name of the job whose runs it creates. */
  jobName: string
  /** The cron expression; null if `everyMs` is given. */
  cron: string | null
  /** The interval in milliseconds; null if `cron` is given. */
  everyMs: number | null
  /** The IANA time zone in which `cron` is read. */
  timezone: string
  /** The input of its runs, encoded. */
  payload: string | null
  /** What becomes of times that passed while no worker was there. */
  misfire: Misfire
  /** How many missed times get a run at most, with `misfire: 'all'`. */
  misfireMax: number
  /** What becomes of a time at which an earlier run has not ended. */
  overlap: Overlap
  /** The range in which its runs start after their time, in milliseconds. */
  jitterMs: number
  /** The concurrency key of its runs; null without one. */
  concurrencyKey: string | null
  /** The labels of its runs, a JSON object whose values are texts; null without labels. */
  labels: string | null
}

/** A schedule as a store keeps it. Times are milliseconds on the store's clock. */
export interface ScheduleRow extends ScheduleDefinition {
  /** Its id. */
  id: string
  /** True while it creates no runs by itself. */
  paused: boolean
  /** The first time that has not been used. */
  nextAt: number
  /** The last time that was used, whether it got a run or not; null before the first. It never goes back. */
  lastScheduledFor: number | null
  /** Grows with every write. */
  version: number
  /** The epoch of the leader that wrote it last; 0 if none did. It never goes back. */
  leaderEpoch: number
  /** When it was created. */
  createdAt: number
  /** When it was last changed, or used. */
  updatedAt: number
}

/** A schedule, as `durably.schedule` returns it. Times are ISO-8601 text. */
export interface Schedule {
  /** Its id: the name of its job, unless another one was given. */
  id: string
  /** The name of the job whose runs it creates. */
  jobName: string
  /** The cron expression; null if it has an interval. */
  cron: string | null
  /** The interval in milliseconds; null if it has a cron expression. */
  every: number | null
  /** The IANA time zone in which `cron` is read. */
  timezone: string
  /** The input of its runs. */
  payload: unknown
  /** What becomes of times that passed while no worker was there. */
  misfire: Misfire
  /** How many missed times get a run at most, with `misfire: 'all'`. */
  misfireMax: number
  /** What becomes of a time at which an earlier run has not ended. */
  overlap: Overlap
  /** The range in which its runs start after their time, in milliseconds. */
  jitter: number
  /** The concurrency key of its runs; null without one. */
  concurrencyKey: string | null
  /** The labels of its runs. */
  labels: Labels
  /** True while it creates no runs by itself. */
  paused: boolean
  /** The next time at which it creates a run; null while it is paused. */
  nextAt: string | null
  /** The last time that was used, whether it got a run or not; null before the first. */
  lastScheduledFor: string | null
  /** Grows with every change and every time that is used. Pass it as `ifVersion` to change the schedule only if nothing happened since. */
  version: number
  /** When it was created. */
  createdAt: string
  /** When it was last changed, or used. */
  updatedAt: string
}

export function toSchedule(row: ScheduleRow, codec: Codec): Schedule {
  return {
    id: row.id,
    jobName: row.jobName,
    cron: row.cron,
    every: row.everyMs,
    timezone: row.timezone,
    payload: codec.decode(row.payload),
    misfire: row.misfire,
    misfireMax: row.misfireMax,
    overlap: row.overlap,
    jitter: row.jitterMs,
    concurrencyKey: row.concurrencyKey,
    labels: row.labels === null ? {} : (JSON.parse(row.labels) as Labels),
    paused: row.paused,
    nextAt: row.paused ? null : iso(row.nextAt),
    lastScheduledFor: isoOrNull(row.lastScheduledFor),
    version: row.version,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  }
}
