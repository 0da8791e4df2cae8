// Schedules as callers write and read them.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { clusterOf, dueSchedule, firingOf, getSchedule, MINUTE, NIGHTLY, newSchedule, put, scheduledRun } from './cluster-world.ts'
import { TEXTS } from './hostile-texts.ts'
import { eventTypes, JOB, mustClaim } from './world.ts'

export const schedulesChapter = chapter('schedules', {
  'a schedule comes back as it was given': async (world) => {
    const given = newSchedule(world, {
      ...{ id: 'a', jobName: 'report', cron: '0 3 * * *', everyMs: null, timezone: 'Europe/Berlin', payload: TEXTS.quotes ?? '"x"' },
      ...{ misfire: 'all', misfireMax: 7, overlap: 'queue', jitterMs: 1234, concurrencyKey: 'k', labels: '{"a":"b"}' },
    })
    const { version: _, ...rest } = given
    const now = world.env.wall()
    const row = { ...rest, paused: false, lastScheduledFor: null, version: 1, leaderEpoch: 0, createdAt: now, updatedAt: now }
    deepEqual(await clusterOf(world).putSchedule(given), { outcome: 'done', schedule: row }, 'the answer')
    deepEqual(await clusterOf(world).findSchedules({ id: 'a', limit: 9 }), { nowMs: now, schedules: [row] }, 'read again')
  },

  'an empty store answers with its time': async (world) => {
    deepEqual(await clusterOf(world).findSchedules({ limit: 10 }), { nowMs: world.env.wall(), schedules: [] }, 'all')
    deepEqual(await clusterOf(world).findSchedules({ id: 'x', limit: 1 }), { nowMs: world.env.wall(), schedules: [] }, 'one')
  },

  'a schedule that exists is not created again': async (world) => {
    await put(world)
    deepEqual(await clusterOf(world).putSchedule(newSchedule(world, { jobName: 'x' })), { outcome: 'changed', version: 1 }, 'the answer')
    equal((await getSchedule(world)).jobName, JOB, 'its job')
  },

  'a schedule is defined anew only at the version that was read': async (world) => {
    await put(world)
    equal((await put(world, { version: 1, jobName: 'b' })).version, 2, 'the version')
    deepEqual(await clusterOf(world).putSchedule(newSchedule(world, { version: 1 })), { outcome: 'changed', version: 2 }, 'an old version')
    equal((await getSchedule(world)).jobName, 'b', 'its job')
    const missing = await clusterOf(world).putSchedule(newSchedule(world, { id: 'none', version: 1 }))
    deepEqual(missing, { outcome: 'changed', version: null }, 'a schedule that does not exist')
  },

  'a new definition keeps the pause and the times that were used': async (world) => {
    const { epoch, schedule } = await dueSchedule(world)
    await clusterOf(world).fireSchedule(firingOf(world, schedule, epoch))
    const { nextAt } = schedule
    await clusterOf(world).switchSchedule({ id: NIGHTLY, version: 2, paused: true, nextAt: nextAt + MINUTE })
    const { paused, lastScheduledFor, leaderEpoch, createdAt, version } = await put(world, {
      version: 3,
      everyMs: 5000,
      nextAt: nextAt + 5000,
    })
    const kept = { paused: true, lastScheduledFor: nextAt, leaderEpoch: epoch, createdAt: schedule.createdAt, version: 4 }
    deepEqual({ paused, lastScheduledFor, leaderEpoch, createdAt, version }, kept, 'the schedule')
  },

  'a paused schedule is neither due nor a duty, until it is resumed': async (world) => {
    const cluster = clusterOf(world)
    const { nextAt } = await put(world)
    await cluster.switchSchedule({ id: NIGHTLY, version: 1, paused: true, nextAt })
    await world.env.advance(MINUTE)
    deepEqual((await cluster.findSchedules({ due: true, limit: 9 })).schedules, [], 'due')
    equal((await world.store.runs.probe([JOB])).dutyInMs, undefined, 'a duty')
    deepEqual(
      await cluster.switchSchedule({ id: NIGHTLY, version: 1, paused: false, nextAt }),
      { outcome: 'changed', version: 2 },
      'an old version',
    )
    await cluster.switchSchedule({ id: NIGHTLY, version: 2, paused: false, nextAt: nextAt + 5000 })
    equal((await world.store.runs.probe([JOB])).dutyInMs, 5000, 'a duty, when it is resumed')
  },

  'a probe says in how many milliseconds the next schedule is due': async (world) => {
    equal((await world.store.runs.probe([JOB])).dutyInMs, undefined, 'without a schedule')
    await put(world, { id: 'far', nextAt: world.env.wall() + 9000 })
    await put(world, { id: 'near', nextAt: world.env.wall() + 5000 })
    equal((await world.store.runs.probe([])).dutyInMs, 5000, 'ahead')
    await world.env.advance(5000)
    equal((await world.store.runs.probe([])).dutyInMs, 0, 'due')
    await world.env.advance(100)
    equal((await world.store.runs.probe([])).dutyInMs, -100, 'past')
  },

  'what is due is found, the longest due first': async (world) => {
    const now = world.env.wall()
    await put(world, { id: 'a', nextAt: now + 30 })
    await put(world, { id: 'b', nextAt: now + 10 })
    await put(world, { id: 'c', nextAt: now + 31 })
    await world.env.advance(30)
    const due = async (limit: number) => (await clusterOf(world).findSchedules({ due: true, limit })).schedules.map(({ id }) => id)
    deepEqual(await due(9), ['b', 'a'], 'all')
    deepEqual(await due(1), ['b'], 'one')
  },

  'pages of schedules follow each other by id': async (world) => {
    for (const id of ['c', 'a', 'b', 'd']) await put(world, { id })
    const page = async (after?: string) => {
      const { schedules } = await clusterOf(world).findSchedules({ limit: 3, ...(after && { after }) })
      return schedules.map(({ id }) => id)
    }
    deepEqual(await page(), ['a', 'b', 'c'], 'the first')
    deepEqual(await page('c'), ['d'], 'the second')
  },

  'a schedule is deleted at the version that was read, and its runs stay': async (world) => {
    const cluster = clusterOf(world)
    const { epoch, schedule } = await dueSchedule(world)
    await cluster.fireSchedule(firingOf(world, schedule, epoch))
    deepEqual(await cluster.deleteSchedule(NIGHTLY, 1), { outcome: 'changed', version: 2 }, 'an old version')
    equal((await cluster.deleteSchedule(NIGHTLY, 2)).outcome, 'done', 'its version')
    deepEqual(await cluster.deleteSchedule(NIGHTLY, 2), { outcome: 'changed', version: null }, 'once more')
    equal((await world.store.runs.list({ scheduleId: NIGHTLY })).length, 1, 'its runs')
  },

  'a run that is triggered by hand belongs to the schedule and to no time': async (world) => {
    const { version, nextAt } = await put(world)
    const run = scheduledRun(world, { concurrencyKey: 'k', labels: '{"a":"b"}' })
    const answer = await clusterOf(world).triggerSchedule({ scheduleId: NIGHTLY, version, run })
    equal(answer.outcome, 'triggered', 'the outcome')
    const { id, scheduleId, scheduledFor, runAt, concurrencyKey } = (await mustClaim(world)).run
    deepEqual(
      { id, scheduleId, scheduledFor, runAt, concurrencyKey },
      { id: run.id, scheduleId: NIGHTLY, scheduledFor: null, runAt: world.env.wall(), concurrencyKey: 'k' },
      'the run',
    )
    deepEqual((await eventTypes(world, id)).slice(0, 1), ['run:trigger'], 'its first event')
    equal((await world.store.runs.list({ labels: { a: 'b' } })).length, 1, 'found by its label')
    equal((await getSchedule(world)).nextAt, nextAt, 'the next time')
    const more = scheduledRun(world)
    await clusterOf(world).triggerSchedule({ scheduleId: NIGHTLY, version, run: more })
    await clusterOf(world).triggerSchedule({ scheduleId: NIGHTLY, version, run: more })
    equal((await world.store.runs.list({ scheduleId: NIGHTLY })).length, 2, 'sent twice, stored once')
  },

  'a schedule that was changed or is gone is not triggered': async (world) => {
    const { version } = await put(world)
    await put(world, { version })
    const request = { scheduleId: NIGHTLY, version, run: scheduledRun(world) }
    deepEqual(await clusterOf(world).triggerSchedule(request), { outcome: 'changed', version: 2 }, 'changed')
    deepEqual(await clusterOf(world).triggerSchedule({ ...request, scheduleId: 'x' }), { outcome: 'changed', version: null }, 'gone')
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },

  'schedules last when the store is opened again': async (world) => {
    const made = await put(world)
    const again = (await world.reopen?.()) ?? world.store
    deepEqual((await again.cluster?.findSchedules({ limit: 9 }))?.schedules, [made], 'the schedules')
  },
})
