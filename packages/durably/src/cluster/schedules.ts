// Schedules — what callers do with schedules. Every write is guarded by the version that was read before it, so nothing is overwritten that
// somebody else, or the leader, wrote meanwhile: then it is read again.
import { publishingCluster } from '../events/publishing-cluster.ts'
import type { RunEvents } from '../events/run-events.ts'
import { type Env, iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { checkName } from '../model/name.ts'
import { type PageOptions, readPage } from '../model/page-options.ts'
import { type Run, toRun } from '../model/run.ts'
import { type Schedule, type ScheduleDefinition, type ScheduleRow, toSchedule } from '../model/schedule.ts'
import { versionMismatch } from '../model/version-mismatch.ts'
import { audited } from '../store/cluster/audited.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { ScheduleOutcome } from '../store/cluster/schedules.ts'
import type { Change } from '../store/notifier.ts'
import { allOf, pagesOf } from '../store/pages-of.ts'
import type { CommandOptions } from '../store/runs.ts'
import { type ReadScheduleDeps, readSchedule, type ScheduleOptions } from './schedule-options.ts'
import { scheduledRun } from './scheduled-run.ts'
import { timetableOf } from './timetable.ts'

export interface SchedulesDeps extends ReadScheduleDeps {
  /** Absent if the store has none. */
  cluster: ClusterStore | undefined
  publish: (change: Change) => void
  env: Env
  runEvents: RunEvents
  /** Called with each schedule that is read, before anything is done with it; null if there is none. It throws what the caller is to get. */
  check?: (schedule: Schedule | null) => Promise<void>
}

const OPTIONS: KeysOf<CommandOptions> = { ifVersion: 1, actor: 1 }
const NEXT_MAX = 1000
/** A schedule that fires every second is written often, but not that often. */
const TRIES_MAX = 20

/** The schedules of the database, as `durably.schedules`. */
export class Schedules {
  readonly #deps: SchedulesDeps

  constructor(deps: SchedulesDeps) {
    this.#deps = deps
  }

  /** The same schedules, for a caller who may not do everything with each of them. */
  async checkedBy(check: NonNullable<SchedulesDeps['check']>): Promise<Schedules> {
    return new Schedules({ ...this.#deps, check })
  }

  /** Creates a schedule, or defines it anew, and returns it; see `durably.schedule`. */
  async put(
    ...args: [options: ScheduleOptions] | [id: string, options: ScheduleOptions, condition?: CommandOptions | undefined]
  ): Promise<Schedule> {
    const [given, options, condition] = args.length === 1 ? [null, args[0]] : args
    checkKeys('a command about a schedule', condition, OPTIONS)
    const definition = await readSchedule(this.#deps, options)
    const id = given === null ? definition.jobName : checkName('id', given)
    const timetable = timetableOf(definition)
    return this.#write(id, ({ nowMs, known }) => {
      if (condition?.ifVersion !== undefined) sameVersion(id, known, condition)
      if (known && isSame(known, definition)) return known
      const nextAt = timetable.next(Math.max(nowMs, known?.lastScheduledFor ?? 0))
      const entry = audited(this.#deps.env, condition ?? {}, 'schedule:put', id, { jobName: definition.jobName })
      return this.#cluster.putSchedule({ id, ...definition, version: known?.version ?? null, nextAt }, entry)
    })
  }

  /** Reads all schedules, by id, or a page of them. */
  async list(options?: PageOptions): Promise<Schedule[]> {
    const page = readPage('schedules.list', options)
    if (page.after !== undefined) checkName('cursor', page.after)
    const read = async ({ after = '', limit = 1 }) => (await this.#cluster.findSchedules({ after, limit })).schedules
    const rows = (await allOf(pagesOf(read, page))) ?? []
    return rows.map((row) => toSchedule(row, this.#deps.codec))
  }

  /** Reads one schedule. Null if there is no such schedule. */
  async get(id: string): Promise<Schedule | null> {
    const { known } = await this.#read(id)
    return known ? toSchedule(known, this.#deps.codec) : null
  }

  /** Lets a schedule create no more runs until `resume`. Runs that exist go on. */
  pause(id: string, options?: CommandOptions): Promise<Schedule> {
    return this.#switch(id, true, options)
  }

  /** Lets a paused schedule go on with its next time. Times during the pause get no run. */
  resume(id: string, options?: CommandOptions): Promise<Schedule> {
    return this.#switch(id, false, options)
  }

  #switch(id: string, paused: boolean, options?: CommandOptions): Promise<Schedule> {
    return this.#write(id, ({ nowMs, known }) => {
      const row = sameVersion(id, known, options)
      if (row.paused === paused) return row
      const nextAt = paused ? row.nextAt : timetableOf(row).next(Math.max(nowMs, row.lastScheduledFor ?? 0))
      const entry = audited(this.#deps.env, options ?? {}, paused ? 'schedule:pause' : 'schedule:resume', id)
      return this.#cluster.switchSchedule({ id, version: row.version, paused, nextAt }, entry)
    })
  }

  /** Creates a run of a schedule now, also while it is paused. It uses none of the times of the schedule. */
  async trigger(id: string, options: CommandOptions = {}): Promise<Run> {
    const { env, codec, runEvents } = this.#deps
    for (let tries = 1; ; tries++) {
      const schedule = sameVersion(id, (await this.#read(id)).known, options)
      const run = scheduledRun(env, schedule, null)
      const entry = audited(env, options, 'schedule:trigger', id, { runId: run.id })
      const answer = await this.#cluster.triggerSchedule({ scheduleId: id, version: schedule.version, run }, entry)
      if (answer.outcome === 'triggered') {
        runEvents.emit('run:trigger', () => ({ run: answer.run }))
        return toRun(answer.run, codec, env.wall())
      }
      if (tries === TRIES_MAX) throw neverTheSame(id)
    }
  }

  /** Removes a schedule. Its runs stay. If it is made again, it begins anew. */
  async delete(id: string, options?: CommandOptions): Promise<void> {
    await this.#write(id, ({ known }) => {
      const { version, jobName } = sameVersion(id, known, options)
      return this.#cluster.deleteSchedule(id, version, audited(this.#deps.env, options ?? {}, 'schedule:delete', id, { jobName }))
    })
  }

  /** The next times of a schedule, whether it is paused or not. `count` is at most 1000. */
  async next(id: string, count = 5): Promise<string[]> {
    if (!(Number.isInteger(count) && count >= 1 && count <= NEXT_MAX))
      throw new DurablyError('invalid_argument', `count must be a whole number from 1 to ${NEXT_MAX}, got ${count}`)
    const { nowMs, known } = await this.#read(id)
    const schedule = sameVersion(id, known)
    const timetable = timetableOf(schedule)
    const times: string[] = []
    for (let at = Math.max(nowMs, schedule.lastScheduledFor ?? 0); times.length < count; ) {
      at = timetable.next(at)
      times.push(iso(at))
    }
    return times
  }

  get #cluster(): ClusterStore {
    const { cluster, publish } = this.#deps
    if (cluster) return publishingCluster(cluster, publish)
    throw new DurablyError('schedules_unsupported', 'the store of this instance keeps no schedules; use memoryStore(), SQLite or Postgres')
  }

  async #read(id: string): Promise<{ nowMs: number; known: ScheduleRow | undefined }> {
    const { nowMs, schedules } = await this.#cluster.findSchedules({ id: checkName('id', id), limit: 1 })
    const [known] = schedules
    await this.#deps.check?.(known ? toSchedule(known, this.#deps.codec) : null)
    return { nowMs, known }
  }

  /** `change` answers with the schedule itself if there is nothing to do. */
  async #write(
    id: string,
    change: (read: { nowMs: number; known: ScheduleRow | undefined }) => ScheduleRow | Promise<ScheduleOutcome>,
  ): Promise<Schedule> {
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const answer = await change(await this.#read(id))
      if (!('outcome' in answer)) return toSchedule(answer, this.#deps.codec)
      if (answer.outcome === 'done') return toSchedule(answer.schedule, this.#deps.codec)
    }
    throw neverTheSame(id)
  }
}

function isSame(known: ScheduleRow, definition: ScheduleDefinition): boolean {
  return (Object.keys(definition) as (keyof ScheduleDefinition)[]).every((key) => known[key] === definition[key])
}

function sameVersion(id: string, known: ScheduleRow | undefined, options: CommandOptions = {}): ScheduleRow {
  checkKeys('a command about a schedule', options, OPTIONS)
  if (!known) throw new DurablyError('schedule_not_found', `there is no schedule ${JSON.stringify(id)}`)
  const { ifVersion = known.version } = options
  if (ifVersion === known.version) return known
  throw versionMismatch(`schedule ${JSON.stringify(id)}`, { expected: ifVersion, actual: known.version })
}

function neverTheSame(id: string): DurablyError {
  return new DurablyError('store_busy', `schedule ${JSON.stringify(id)} was changed by others ${TRIES_MAX} times in a row; try again`)
}
