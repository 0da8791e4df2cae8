// The cast of the cluster's chapters: candidates, schedules and firings, with values that a case overrides where it matters.
import { iso } from '../../model/env.ts'
import type { ScheduleRow } from '../../model/schedule.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { LeadRequest } from '../../store/cluster/leaders.ts'
import type { Firing, FiringOutcome, NewSchedule, ScheduledRun } from '../../store/cluster/schedules.ts'
import type { WorkerEntry } from '../../store/cluster/workers.ts'
import type { NewRun } from '../../store/runs.ts'
import { equal, ok } from '../assert.ts'
import type { World } from './chapter.ts'
import { create, JOB } from './world.ts'

export const LEAD_MS = 10_000
export const MINUTE = 60_000
export const NIGHTLY = 'nightly'

export function clusterOf({ store }: World): ClusterStore {
  ok(store.cluster, 'the store has the chapter `cluster`')
  return store.cluster
}

export function candidate(token: string): LeadRequest {
  return { workerId: `worker ${token}`, token, leaseMs: LEAD_MS }
}

/** One that is due in a minute. */
export function newSchedule({ env }: World, schedule: Partial<NewSchedule> = {}): NewSchedule {
  const when = { cron: null, everyMs: MINUTE, timezone: 'UTC' }
  const policies = { misfire: 'once', misfireMax: 100, overlap: 'allow', jitterMs: 0 } as const
  const runs = { jobName: JOB, payload: '{"page":1}', concurrencyKey: null, labels: null }
  return { id: NIGHTLY, ...when, ...policies, ...runs, version: null, nextAt: env.wall() + MINUTE, ...schedule }
}

export async function put(world: World, schedule: Partial<NewSchedule> = {}): Promise<ScheduleRow> {
  const answer = await clusterOf(world).putSchedule(newSchedule(world, schedule))
  ok(answer.outcome === 'done', `the schedule was put, got ${JSON.stringify(answer)}`)
  return answer.schedule
}

export async function getSchedule(world: World, id = NIGHTLY): Promise<ScheduleRow> {
  const { schedules } = await clusterOf(world).findSchedules({ id, limit: 1 })
  ok(schedules[0], `schedule ${id} exists`)
  return schedules[0]
}

export function scheduledRun({ env }: World, run: Partial<ScheduledRun> = {}): ScheduledRun {
  const nothing = { concurrencyKey: null, labels: null }
  return {
    id: env.id(),
    jobName: JOB,
    payload: '{"page":1}',
    ...nothing,
    createdAt: iso(env.wall()),
    runAt: null,
    scheduledFor: null,
    ...run,
  }
}

/** The next time of a schedule as its leader fires it, one run for each of `slots`. */
export function firingOf(world: World, schedule: ScheduleRow, epoch: number, slots = [schedule.nextAt]): Firing {
  const lastScheduledFor = slots.at(-1) ?? schedule.nextAt
  const runs = slots.map((slot) => scheduledRun(world, { scheduledFor: slot, runAt: slot }))
  return { epoch, scheduleId: schedule.id, version: schedule.version, runs, lastScheduledFor, nextAt: lastScheduledFor + MINUTE }
}

export async function elect(world: World, token = 'a'): Promise<number> {
  const { epoch } = await clusterOf(world).lead(candidate(token))
  ok(epoch !== null, `${token} leads`)
  return epoch
}

/** A leader and a schedule that is due. */
export async function dueSchedule(world: World, schedule: Partial<NewSchedule> = {}): Promise<{ epoch: number; schedule: ScheduleRow }> {
  const made = await put(world, schedule)
  await world.env.advance(Math.max(0, made.nextAt - world.env.wall()))
  return { epoch: await elect(world), schedule: made }
}

export async function refused(world: World, firing: Firing, outcome: FiringOutcome['outcome']): Promise<void> {
  const before = await clusterOf(world).findSchedules({ id: firing.scheduleId, limit: 1 })
  const runsBefore = (await world.store.runs.list({})).length
  equal((await clusterOf(world).fireSchedule(firing)).outcome, outcome, 'the outcome')
  equal((await world.store.runs.list({})).length, runsBefore, 'the number of runs')
  const after = await clusterOf(world).findSchedules({ id: firing.scheduleId, limit: 1 })
  equal(JSON.stringify(after.schedules), JSON.stringify(before.schedules), 'the schedule')
}

export const WORKER_MS = 15_000

export function workerEntry(worker: Partial<WorkerEntry> = {}): WorkerEntry {
  const able = { labels: '{}', capacity: 2, jobNames: JSON.stringify([JOB]), version: null }
  return { id: 'worker a', token: 'process a', ...able, lastsMs: WORKER_MS, ...worker }
}

/** A leader, a worker and a run that is assigned to it. */
export async function assignedRun(world: World, run: Partial<NewRun> = {}): Promise<{ epoch: number; id: string }> {
  const epoch = await elect(world)
  equal(await clusterOf(world).attend(workerEntry()), 'attached', 'the state of the worker')
  const { id, version } = await create(world, run)
  const assigned = await clusterOf(world).assign({ epoch, assignments: [{ runId: id, version, workerId: 'worker a' }] })
  equal(assigned?.length, 1, 'assigned runs')
  return { epoch, id }
}

/** Assigns a run to the worker as it is now; true if that was done. */
export async function assignNow(world: World, runId: string, workerId = 'worker a', epoch?: number): Promise<boolean> {
  const version = (await world.store.runs.get(runId))?.version ?? 0
  const request = { epoch: epoch ?? (await elect(world)), assignments: [{ runId, version, workerId }] }
  return (await clusterOf(world).assign(request))?.length === 1
}
