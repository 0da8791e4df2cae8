// Timetable — the times of a schedule. It is a pure function of the definition: every process computes the same.
//   - An interval counts from the beginning of 1970 in UTC.
//   - Cron expressions are read by croner, see ADR 0014 and the table of time zones in docs/guides/schedules.md.
import { Cron } from 'croner'
import { NEVER_MS } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import type { ScheduleDefinition } from '../model/schedule.ts'

export interface Timetable {
  /** The first time after this one; `NEVER_MS` if there is none. */
  next(afterMs: number): number
  /** The last `count` times from `fromMs` up to `toMs`, both included, oldest first. */
  latest(count: number, fromMs: number, toMs: number): number[]
}

export function timetableOf({ cron, everyMs, timezone }: Pick<ScheduleDefinition, 'cron' | 'everyMs' | 'timezone'>): Timetable {
  return cron === null ? intervals(everyMs ?? Number.NaN) : cronTimes(cron, timezone)
}

function intervals(everyMs: number): Timetable {
  return {
    next: (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs,
    latest(count, fromMs, toMs) {
      const last = Math.floor(toMs / everyMs)
      const first = Math.max(Math.ceil(fromMs / everyMs), last - count + 1)
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * everyMs)
    },
  }
}

const SECOND_MS = 1000

function cronTimes(cron: string, timezone: string): Timetable {
  const times = parsed(cron, timezone)
  return {
    next: (afterMs) => times.nextRun(new Date(afterMs))?.getTime() ?? NEVER_MS,
    latest(count, fromMs, toMs) {
      // The times before a moment, which croner reads in whole seconds.
      const before = new Date((Math.floor(toMs / SECOND_MS) + 1) * SECOND_MS)
      const found = times.previousRuns(count, before).map((time) => time.getTime())
      return found.filter((ms) => ms >= fromMs).sort((a, b) => a - b)
    },
  }
}

/** A zone is looked up with the first time that is asked for. */
function parsed(cron: string, timezone: string): Cron {
  checkZone(timezone)
  try {
    return new Cron(cron, { timezone, mode: '5-or-6-parts', paused: true })
  } catch (cause) {
    throw new DurablyError(
      'invalid_argument',
      `cron ${JSON.stringify(cron)} cannot be read: ${(cause as Error).message.replace(/^\w+: /, '')}; write five fields such as "30 2 * * *", or six with seconds first`,
      { cause },
    )
  }
}

function checkZone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (cause) {
    throw new DurablyError(
      'invalid_argument',
      `timezone must be the name of an IANA time zone such as "Europe/Berlin", got ${JSON.stringify(timezone)}`,
      { cause },
    )
  }
}
