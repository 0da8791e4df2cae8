// What `durably.schedule` is given, checked, and as a store keeps it.
import type { Codec } from '../model/codec.ts'
import { type Duration, durationMs, NEVER_MS } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import { type Job, validate } from '../model/job.ts'
import { checkKeys, type KeysOf, nearest } from '../model/known-keys.ts'
import { type Labels, labelsOf } from '../model/labels.ts'
import { checkName } from '../model/name.ts'
import { MISFIRES, type Misfire, OVERLAPS, type Overlap, type ScheduleDefinition } from '../model/schedule.ts'
import { timetableOf } from './timetable.ts'

/** A job that a schedule can create runs of: what `defineJob` returned, or the name of a job that is defined in another process. */
export type SchedulableJob = string | { readonly name: string; trigger(input: never): unknown }

/** When a schedule creates runs, and how. Give either `cron` or `every`. */
export interface ScheduleSettings {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds first. */
  cron?: string
  /** The time between two runs, at least one second, for example `'15m'`. It counts from the beginning of 1970 in UTC. */
  every?: Duration
  /** The IANA time zone in which `cron` is read; an `every` has none. Default `UTC`. */
  timezone?: string
  /** What becomes of times that passed while no worker was there. Default `once`. */
  misfire?: Misfire
  /** With `misfire: 'all'`: how many missed times get a run, the last ones; at most 1000. Default 100. */
  misfireMax?: number
  /** What becomes of a time at which an earlier run has not ended. Default `allow`. */
  overlap?: Overlap
  /**
   * Its runs start up to this much after their time, at most 24 hours: each schedule has a place of its own in the range, always the same.
   * Default 0.
   */
  jitter?: Duration
  /** The concurrency key of its runs. Default: none; with `overlap` `queue` or `cancel`, one of the schedule's own. */
  concurrencyKey?: string
  /** The labels of its runs. */
  labels?: Labels
}

/** The options of `durably.schedule`. The type of `payload` follows from `job`. */
export type ScheduleOptions<TJob extends SchedulableJob = SchedulableJob> = ScheduleSettings & {
  /** The job whose runs it creates. */
  job: TJob
} & PayloadOf<InputOf<TJob>>

type InputOf<TJob> = TJob extends { trigger(input: infer TInput): unknown } ? TInput : unknown
type PayloadOf<TInput> = undefined extends TInput
  ? {
      /** The input of each run. */
      payload?: TInput
    }
  : {
      /** The input of each run. */
      payload: TInput
    }

const OPTIONS: KeysOf<ScheduleSettings & { job: unknown; payload: unknown }> = {
  ...{ job: 1, payload: 1, cron: 1, every: 1, timezone: 1, misfire: 1, misfireMax: 1, overlap: 1, jitter: 1, concurrencyKey: 1, labels: 1 },
}

/** Cron expressions have no shorter times, and what runs more often is a loop in a job. */
const EVERY_MS_MIN = 1000
const JITTER_MS_MAX = 24 * 60 * 60 * 1000
const MISFIRE_MAX = 1000
const MISFIRE_DEFAULT = 100

export interface ReadScheduleDeps {
  codec: Codec
  /** Those that are defined here, by name. */
  jobs: ReadonlyMap<string, Job>
}

export async function readSchedule(deps: ReadScheduleDeps, options: ScheduleOptions): Promise<ScheduleDefinition> {
  checkKeys('schedule', options, OPTIONS)
  const { job, concurrencyKey, labels = {} } = options
  const jobName = checkName('job', typeof job === 'string' ? job : job?.name)
  return {
    jobName,
    ...readTimes(options),
    ...readPolicies(options),
    payload: await readPayload(deps, jobName, options.payload),
    concurrencyKey: concurrencyKey === undefined ? null : checkName('concurrencyKey', concurrencyKey),
    labels: labelsOf(labels, null),
  }
}

/** Checked where the job is defined; a process that only has its name stores what it is given. */
async function readPayload({ codec, jobs }: ReadScheduleDeps, jobName: string, payload: unknown): Promise<string | null> {
  const what = `payload of a schedule for job ${JSON.stringify(jobName)}`
  const job = jobs.get(jobName)
  return codec.encode(job ? await validate(job.input, payload, 'invalid_input', () => what) : payload, what)
}

type Times = Pick<ScheduleDefinition, 'cron' | 'everyMs' | 'timezone' | 'jitterMs'>

function readTimes({ cron, every, timezone = 'UTC', jitter = 0 }: ScheduleSettings): Times {
  if ((cron === undefined) === (every === undefined)) throw invalid('a schedule needs either cron or every, e.g. { cron: "0 3 * * *" }')
  if (every !== undefined && timezone !== 'UTC')
    throw invalid(`timezone is for cron; every counts from 1970 in UTC. Leave timezone out, or give cron (got ${JSON.stringify(timezone)})`)
  const everyMs = every === undefined ? null : durationMs('every', every)
  if (everyMs !== null && everyMs < EVERY_MS_MIN) throw invalid(`every must be at least one second, got ${everyMs} ms`)
  const jitterMs = durationMs('jitter', jitter)
  const max = Math.min(JITTER_MS_MAX, everyMs ?? JITTER_MS_MAX)
  if (jitterMs > max) throw invalid(`jitter must be at most 24 hours, and at most as long as every: ${max} ms, got ${jitterMs} ms`)
  const times = { cron: cron === undefined ? null : checkName('cron', cron), everyMs, timezone: checkName('timezone', timezone), jitterMs }
  if (timetableOf(times).next(0) >= NEVER_MS) throw invalid(`cron ${JSON.stringify(cron)} has no time at all; is there such a day?`)
  return times
}

function readPolicies({ misfire = 'once', misfireMax = MISFIRE_DEFAULT, overlap = 'allow' }: ScheduleSettings) {
  if (!(Number.isInteger(misfireMax) && misfireMax >= 1 && misfireMax <= MISFIRE_MAX))
    throw invalid(`misfireMax must be a whole number from 1 to ${MISFIRE_MAX}, got ${misfireMax}`)
  return { misfire: oneOf('misfire', misfire, MISFIRES), misfireMax, overlap: oneOf('overlap', overlap, OVERLAPS) }
}

function oneOf<T extends string>(field: string, value: T, known: readonly T[]): T {
  if (!known.includes(value)) throw invalid(`${field} cannot be ${nearest(value, known)}`)
  return value
}

function invalid(problem: string): DurablyError {
  return new DurablyError('invalid_argument', problem)
}
