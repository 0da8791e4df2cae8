// Fires the schedules that are due, as the leader. Each firing is one write, which the store refuses if anything was otherwise than here.
import { publishingCommands } from '../events/publishing-commands.ts'
import type { RunEvents } from '../events/run-events.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { ScheduleRow } from '../model/schedule.ts'
import { timeOfId } from '../model/ulid.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { FiringOutcome } from '../store/cluster/schedules.ts'
import type { Change } from '../store/notifier.ts'
import type { RunStore } from '../store/runs.ts'
import { dueSlots } from './due-slots.ts'
import { isLasting, withPlace } from './is-lasting.ts'
import { scheduledRun } from './scheduled-run.ts'
import { timetableOf } from './timetable.ts'

/** How many schedules are fired before the worker looks for other work. */
const DUE_PAGE = 50
/** How many are read at most to find one that can be fired. */
const DUE_MAX = 64 * DUE_PAGE

export interface FireDeps {
  runs: RunStore
  cluster: ClusterStore
  env: Env
  runEvents: RunEvents
  publish: (change: Change) => void
  report: (error: unknown) => void
}

/** `fired`: how many schedules used a time. `isDeposed`: another process leads. */
export async function fireDue(deps: FireDeps, epoch: number): Promise<{ fired: number; isDeposed: boolean }> {
  const seen = new Set<string>()
  // What cannot be fired stays due and comes first each time, so a page of nothing else is read past.
  for (let limit = DUE_PAGE; limit <= DUE_MAX; limit *= 2) {
    const { nowMs, schedules } = await deps.cluster.findSchedules({ due: true, limit })
    const answer = await fireAll(
      deps,
      epoch,
      schedules.filter(({ id }) => !seen.has(id)),
      nowMs,
    )
    if (answer.isDeposed || answer.fired > 0 || schedules.length < limit) return answer
    for (const { id } of schedules) seen.add(id)
  }
  return { fired: 0, isDeposed: false }
}

async function fireAll(
  deps: FireDeps,
  epoch: number,
  schedules: readonly ScheduleRow[],
  nowMs: number,
): Promise<{ fired: number; isDeposed: boolean }> {
  let fired = 0
  for (const schedule of schedules) {
    const outcome = await fireOne(deps, epoch, schedule, nowMs).catch((error: unknown) => {
      if (!isLasting(error)) throw error
      // Others must not wait for it.
      deps.report(withPlace(`schedule ${JSON.stringify(schedule.id)} cannot be fired`, error))
      return 'rejected'
    })
    if (outcome === 'deposed') return { fired, isDeposed: true }
    if (outcome === 'fired') fired++
  }
  return { fired, isDeposed: false }
}

async function fireOne(
  deps: FireDeps,
  epoch: number,
  schedule: ScheduleRow,
  nowMs: number,
): Promise<FiringOutcome['outcome'] | 'unreadable'> {
  const { cluster, env, runEvents } = deps
  const due = readSlots(deps, schedule, nowMs)
  if (!due) return 'unreadable'
  if (schedule.overlap === 'cancel') await cancelEarlier(deps, schedule, due.lastAt)
  const answer = await cluster.fireSchedule({
    epoch,
    scheduleId: schedule.id,
    version: schedule.version,
    runs: due.slots.map((slot) => scheduledRun(env, schedule, slot)),
    lastScheduledFor: due.lastAt,
    nextAt: due.nextAt,
  })
  if (answer.outcome === 'fired') for (const run of answer.runs) runEvents.emit('run:trigger', () => ({ run }))
  return answer.outcome
}

/** Null if this process cannot read the schedule, for example because it does not know its time zone. Others must not wait for it. */
function readSlots({ report }: FireDeps, schedule: ScheduleRow, nowMs: number) {
  try {
    const timetable = timetableOf(schedule)
    const { slots, lastAt } = dueSlots(schedule, timetable, nowMs)
    return { slots, lastAt, nextAt: timetable.next(lastAt) }
  } catch (cause) {
    const message = `schedule ${JSON.stringify(schedule.id)} cannot be fired by this process: ${(cause as Error).message}`
    report(new DurablyError('invalid_argument', message, { cause }))
    return null
  }
}

/**
 * Before the run of a time is created, not with it: what belongs to an earlier time is to be cancelled as soon as that time is due, whichever
 * process does it. After a crash in between, the next leader finds the time still due.
 */
async function cancelEarlier({ runs, runEvents, publish }: FireDeps, { id }: ScheduleRow, slot: number): Promise<void> {
  const { cancel } = publishingCommands(runs, publish)
  for (const run of await runs.list({ scheduleId: id, statuses: ['pending', 'running'] })) {
    if ((run.scheduledFor ?? timeOfId(run.id)) >= slot) continue
    const answer = await cancel(run.id)
    if (!answer || answer.outcome === 'changed') continue
    for (const stopped of [{ ...answer.run, outcome: answer.outcome }, ...answer.others])
      if (stopped.outcome === 'cancelled') runEvents.emit('run:cancel', () => ({ run: stopped }))
  }
}
