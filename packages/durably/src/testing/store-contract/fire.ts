// A leader fires a schedule: each of its times is used once, whoever else believes to lead.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  clusterOf,
  dueSchedule,
  elect,
  firingOf,
  getSchedule,
  LEAD_MS,
  MINUTE,
  NIGHTLY,
  put,
  refused,
  scheduledRun,
} from './cluster-world.ts'
import { complete, eventTypes, get, JOB, mustClaim } from './world.ts'

export const fireChapter = chapter('firing', {
  'a firing creates the run of its time and uses that time': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const firing = firingOf(world, schedule, epoch)
    const answer = await clusterOf(world).fireSchedule(firing)
    ok(answer.outcome === 'fired', 'it fired')
    const [run, ...others] = answer.runs
    equal(others.length, 0, 'further runs')
    deepEqual(run, await get(world, firing.runs[0]?.id ?? ''), 'the run of the answer')
    const { scheduleId, scheduledFor, status, jobName, payload, runAt } = run ?? {}
    const slot = schedule.nextAt
    deepEqual(
      { scheduleId, scheduledFor, status, jobName, payload, runAt },
      { scheduleId: NIGHTLY, scheduledFor: slot, status: 'pending', jobName: JOB, payload: '{"page":1}', runAt: slot },
      'the run',
    )
    deepEqual(await eventTypes(world, run?.id ?? ''), ['run:trigger'], 'its events')
    const used = { lastScheduledFor: slot, nextAt: slot + MINUTE, version: 2, leaderEpoch: epoch, updatedAt: world.env.wall() }
    deepEqual(await getSchedule(world), { ...schedule, ...used }, 'the schedule')
    deepEqual(await world.store.runs.list({ scheduleId: NIGHTLY, limit: 5 }), [run], 'found by its schedule')
    deepEqual(await world.store.runs.list({ scheduleId: 'other', limit: 5 }), [], 'another schedule')
  },

  'a run of a schedule is executed like any other, and keeps its time': async (world) => {
    const { epoch, schedule } = await dueSchedule(world, { jobName: JOB })
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))
    const owner = await mustClaim(world)
    equal(owner.run.scheduledFor, schedule.nextAt, 'claimed')
    await owner.succeed(complete())
    equal((await get(world, owner.run.id)).scheduledFor, schedule.nextAt, 'ended')
  },

  'a run has the labels, the key and the start that it is given': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const runAt = schedule.nextAt + 500
    const run = scheduledRun(world, { scheduledFor: schedule.nextAt, runAt, labels: '{"tenant":"acme"}', concurrencyKey: 'k' })
    await clusterOf(world).fireSchedule({ ...firingOf(world, schedule, epoch), runs: [run] })
    const [found] = await world.store.runs.list({ labels: { tenant: 'acme' } })
    deepEqual([found?.runAt, found?.concurrencyKey], [runAt, 'k'], 'the run')
    equal((await world.store.runs.probe([JOB])).nextInMs, 500, 'due later')
  },

  'several times are used at once, oldest first': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await world.env.advance(2 * MINUTE)
    const first = schedule.nextAt
    const slots = [first, first + MINUTE, first + 2 * MINUTE]
    const again = await elect(world)
    equal(again, epoch, 'the epoch')
    const answer = await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch, slots))
    ok(answer.outcome === 'fired', 'it fired')
    deepEqual(
      answer.runs.map((run) => run.scheduledFor),
      slots,
      'the times',
    )
  },

  'times may be used without a run': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    deepEqual(
      await clusterOf(world).fireSchedule({ ...firingOf(world, schedule, epoch), runs: [] }),
      { outcome: 'fired', runs: [] },
      'the answer',
    )
    equal((await getSchedule(world)).lastScheduledFor, schedule.nextAt, 'used')
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },

  'sent again, it answers the same and creates nothing': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const firing = firingOf(world, schedule, epoch)
    const first = await clusterOf(world).fireSchedule(firing)
    deepEqual(await clusterOf(world).fireSchedule(firing), first, 'the second answer')
    equal((await world.store.runs.list({})).length, 1, 'runs')
    equal((await getSchedule(world)).version, 2, 'the version')
    await world.env.advance(LEAD_MS)
    await elect(world, 'b')
    deepEqual(await clusterOf(world).fireSchedule(firing), first, 'the answer after a change of the leader')
  },

  'a leader that was replaced is refused, also at a schedule that nobody has touched since': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await world.env.advance(LEAD_MS)
    await elect(world, 'b')
    await refused(world, firingOf(world, schedule, epoch), 'deposed')
  },

  'an epoch that never led is refused': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await refused(world, firingOf(world, schedule, epoch + 1), 'deposed')
  },

  'a leader whose lease is over may fire while nobody else leads': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await world.env.advance(LEAD_MS * 2)
    equal((await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))).outcome, 'fired', 'the outcome')
  },

  'a schedule that was fired or changed since it was read is refused': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const late = firingOf(world, schedule, epoch)
    await clusterOf(world).fireSchedule({ ...firingOf(world, schedule, epoch), lastScheduledFor: schedule.nextAt - 1, runs: [] })
    await refused(world, late, 'changed')
    await put(world, { version: 2, nextAt: schedule.nextAt })
    await refused(world, { ...late, version: 2 }, 'changed')
  },

  'a schedule that a later leader has written is refused': async (world) => {
    const { schedule } = await dueSchedule(world)
    await world.env.advance(LEAD_MS)
    const later = await elect(world, 'b')
    await clusterOf(world).fireSchedule({ ...firingOf(world, schedule, later), runs: [] })
    const now = await getSchedule(world)
    equal(now.leaderEpoch, later, 'the epoch of the schedule')
    await refused(world, { ...firingOf(world, now, later - 1), lastScheduledFor: world.env.wall() }, 'deposed')
  },

  'a paused or deleted schedule is refused': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await clusterOf(world).switchSchedule({ id: NIGHTLY, version: 1, paused: true, nextAt: schedule.nextAt })
    await refused(world, { ...firingOf(world, schedule, epoch), version: 2 }, 'changed')
    await clusterOf(world).deleteSchedule(NIGHTLY, 2)
    await refused(world, { ...firingOf(world, schedule, epoch), version: 2 }, 'changed')
  },

  'a time that is later than the clock of the store is refused': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const ahead = schedule.nextAt + 1
    await refused(world, firingOf(world, schedule, epoch, [schedule.nextAt, ahead]), 'early')
    await world.env.advance(1)
    equal((await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch, [ahead]))).outcome, 'fired', 'a millisecond later')
  },

  'a time that was used gets no second run, also after its run was deleted or purged': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))
    const owner = await mustClaim(world)
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    await world.env.advance(1)
    const again = { ...firingOf(world, await getSchedule(world), epoch, [schedule.nextAt]), lastScheduledFor: world.env.wall() }
    deepEqual(await clusterOf(world).fireSchedule(again), { outcome: 'fired', runs: [] }, 'the answer')
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },

  'the last time that was used never goes back, whatever the next time was said to be': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await world.env.advance(2 * MINUTE)
    const used = [schedule.nextAt, schedule.nextAt + MINUTE]
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch, used))
    const earlier = await put(world, { version: 2, nextAt: schedule.nextAt })
    const firing = firingOf(world, earlier, epoch, [schedule.nextAt])
    deepEqual(await clusterOf(world).fireSchedule(firing), { outcome: 'fired', runs: [] }, 'the answer')
    deepEqual(await clusterOf(world).fireSchedule(firing), { outcome: 'fired', runs: [] }, 'the answer, if it is sent again')
    equal((await getSchedule(world)).lastScheduledFor, used[1], 'the last time')
  },

  'a schedule that is made again under its id creates no second run for a time': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))
    await clusterOf(world).deleteSchedule(NIGHTLY, 2)
    const made = await put(world, { nextAt: schedule.nextAt })
    deepEqual(await clusterOf(world).fireSchedule(firingOf(world, made, epoch)), { outcome: 'fired', runs: [] }, 'the answer')
    equal((await world.store.runs.list({})).length, 1, 'runs')
  },

  'a run of another schedule may have the same time': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const other = await put(world, { id: 'other', nextAt: schedule.nextAt })
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))
    await clusterOf(world).fireSchedule(firingOf(world, other, epoch))
    equal((await world.store.runs.list({})).length, 2, 'runs')
  },

  'with overlap skip, a time gets no run while an earlier run has not ended': async (world) => {
    const { epoch, schedule } = await dueSchedule(world, { overlap: 'skip' })
    const fire = async () => clusterOf(world).fireSchedule(firingOf(world, await getSchedule(world), epoch))
    await fire()
    await world.env.advance(MINUTE)
    deepEqual(await fire(), { outcome: 'fired', runs: [] }, 'while it is pending')
    const owner = await mustClaim(world)
    await world.env.advance(MINUTE)
    deepEqual(await fire(), { outcome: 'fired', runs: [] }, 'while it is running')
    await owner.succeed(complete())
    await world.env.advance(MINUTE)
    const answer = await fire()
    ok(answer.outcome === 'fired', 'it fired')
    equal(answer.runs[0]?.scheduledFor, schedule.nextAt + 3 * MINUTE, 'when it has ended')
  },

  'with overlap skip, only the first of several times gets a run': async (world) => {
    const { epoch, schedule } = await dueSchedule(world, { overlap: 'skip' })
    await world.env.advance(MINUTE)
    const slots = [schedule.nextAt, schedule.nextAt + MINUTE]
    const answer = await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch, slots))
    ok(answer.outcome === 'fired', 'it fired')
    deepEqual(
      answer.runs.map((run) => run.scheduledFor),
      slots.slice(0, 1),
      'the times with a run',
    )
    equal((await getSchedule(world)).lastScheduledFor, slots[1], 'the last time that is used')
  },

  'of two leaders that fire the same time at once, one creates its run': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    const firings = Array.from({ length: 4 }, () => firingOf(world, schedule, epoch))
    await Promise.all(firings.map((firing) => clusterOf(world).fireSchedule(firing)))
    equal((await world.store.runs.list({})).length, 1, 'runs')
    equal((await getSchedule(world)).version, 2, 'the version')
  },
})
