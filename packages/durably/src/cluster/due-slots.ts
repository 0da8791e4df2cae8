// Which of the times that are due get a run.
import type { ScheduleRow } from '../model/schedule.ts'
import type { Timetable } from './timetable.ts'

/** With `misfire: 'skip'`, a time that is later than this by so much gets no run. */
const MISFIRE_GRACE_MS = 60_000

export interface DueSlots {
  /** The times that get a run, oldest first. */
  slots: number[]
  /** The last time that is due: it and all before it are used. */
  lastAt: number
}

/** `schedule` is due at `nowMs`. However long ago its next time was, only the last few are looked at. */
export function dueSlots(schedule: ScheduleRow, timetable: Timetable, nowMs: number): DueSlots {
  const { nextAt, misfire, misfireMax, overlap } = schedule
  const latest = (count: number) => timetable.latest(count, nextAt, nowMs)
  // The next time itself, if this process knows another rule of the time zone than the one that computed it.
  const [lastAt = nextAt] = latest(1)
  if (misfire === 'skip' && nowMs - lastAt > MISFIRE_GRACE_MS) return { slots: [], lastAt }
  // Each run but the last would be cancelled at once.
  if (misfire !== 'all' || overlap === 'cancel') return { slots: [lastAt], lastAt }
  const slots = latest(misfireMax)
  return { slots: slots.length > 0 ? slots : [lastAt], lastAt }
}

/** Where in the range of its jitter a schedule has its place: always the same one, so that runs keep their distance (FNV-1a). */
export function jitterPlace(id: string, jitterMs: number): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return jitterMs === 0 ? 0 : hash % jitterMs
}
