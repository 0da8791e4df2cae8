// Schedules: jobs that run by themselves, each time once, whoever leads.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { iso } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { drain } from '../../src/testing/drain.ts'
import { faulty } from './faulty-store.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Seen {
  at: string
  scheduledFor: string | null
}

function defineReport(durably: Durably, seen: Seen[] = [], lasts: `${number}s` | null = null) {
  return durably.defineJob({ name: 'report', input: z.object({ page: z.number().default(1) }) }, async (ctx, payload) => {
    if (lasts) await ctx.sleep('while', lasts)
    seen.push({ at: ctx.runId, scheduledFor: ctx.scheduledFor })
    return payload
  })
}

async function slots(durably: Durably, scheduleId = 'report'): Promise<(string | null)[]> {
  return (await durably.getRuns({ scheduleId })).map((run) => run.scheduledFor).reverse()
}

/** The virtual clock begins at the full hour. */
const from = (start: number) => (ms: number) => iso(start + ms)

describe.each(WORLDS)('schedules on %s', (world) => {
  test('a started worker runs the job at each time, and the job sees the time', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    const seen: Seen[] = []
    const report = defineReport(durably, seen)
    durably.start()
    const schedule = await durably.schedule({ job: report, every: '10s', payload: {} })
    expect(schedule).toMatchObject({
      id: 'report',
      jobName: 'report',
      every: 10_000,
      cron: null,
      payload: { page: 1 },
      nextAt: at(10_000),
      version: 1,
    })
    await env.advance(9_999)
    expect(seen).toEqual([])
    await env.advance(25_001)
    expect(seen.map(({ scheduledFor }) => scheduledFor)).toEqual([at(10_000), at(20_000), at(30_000)])
    const [last] = await durably.getRuns({ scheduleId: 'report', limit: 1 })
    expect(last).toMatchObject({
      status: 'completed',
      output: { page: 1 },
      scheduleId: 'report',
      scheduledFor: at(30_000),
      runAt: at(30_000),
    })
    expect(await durably.schedules.get('report')).toMatchObject({ lastScheduledFor: at(30_000), nextAt: at(40_000), version: 4 })
  })

  test('a cron expression with and without seconds', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    const report = defineReport(durably)
    durably.start()
    await durably.schedule('a', { job: report, cron: '*/20 * * * * *', payload: {} })
    await durably.schedule('b', { job: 'report', cron: '* * * * *', payload: { page: 2 } })
    await env.advance(MINUTE)
    expect(await slots(durably, 'a')).toEqual([at(20_000), at(40_000), at(60_000)])
    expect(await slots(durably, 'b')).toEqual([at(60_000)])
    expect((await durably.getRuns({ scheduleId: 'b' }))[0]?.output).toEqual({ page: 2 })
  })

  test('a schedule that is defined again unchanged is not written; a change begins with the next time of the new one', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    const report = defineReport(durably)
    durably.start()
    const first = await durably.schedule({ job: report, every: '10s', payload: {}, labels: { tenant: 'acme' } })
    await env.advance(5000)
    expect(await durably.schedule({ job: report, every: 10_000, payload: { page: 1 }, labels: { tenant: 'acme' } })).toEqual(first)
    const changed = await durably.schedule({ job: report, every: '4s', payload: {} })
    expect(changed).toMatchObject({ version: 2, every: 4000, nextAt: at(8000), labels: {}, createdAt: first.createdAt })
    await env.advance(10_000)
    expect(await slots(durably)).toEqual([at(8000), at(12_000)])
  })

  test('pause, resume, trigger, list, next and delete', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    const report = defineReport(durably)
    const { schedules } = durably
    durably.start()
    await durably.schedule('z', { job: report, every: '1h', payload: {} })
    await durably.schedule({ job: report, every: '10s', payload: {} })
    expect((await schedules.list()).map(({ id }) => id)).toEqual(['report', 'z'])
    expect(await schedules.list({ limit: 1 })).toMatchObject([{ id: 'report' }])
    expect(await schedules.list({ limit: 1, cursor: 'report' })).toMatchObject([{ id: 'z' }])
    await expect(schedules.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await schedules.next('report', 3)).toEqual([at(10_000), at(20_000), at(30_000)])
    expect(await schedules.pause('report')).toMatchObject({ paused: true, nextAt: null, version: 2 })
    expect(await schedules.pause('report')).toMatchObject({ version: 2 })
    await env.advance(35_000)
    expect(await slots(durably)).toEqual([])
    const run = await schedules.trigger('report')
    expect(run).toMatchObject({ status: 'pending', scheduleId: 'report', scheduledFor: null })
    await env.advance(1)
    expect(await durably.getRun(run.id)).toMatchObject({ status: 'completed' })
    expect(await schedules.resume('report')).toMatchObject({ paused: false, nextAt: at(40_000), lastScheduledFor: null })
    await env.advance(10_000)
    expect(await slots(durably)).toEqual([null, at(40_000)])
    await schedules.delete('report')
    await env.advance(MINUTE)
    expect(await slots(durably)).toHaveLength(2)
    expect(await schedules.get('report')).toBeNull()
    for (const call of [schedules.pause('report'), schedules.trigger('report'), schedules.delete('report'), schedules.next('report')])
      await expect(call).rejects.toMatchObject({ code: 'schedule_not_found' })
  })

  test('ifVersion refuses what was changed since, and says both versions', async () => {
    const { durably } = await setup(world)
    const report = defineReport(durably)
    await durably.schedule({ job: report, every: '1h', payload: {} })
    await durably.schedules.pause('report', { ifVersion: 1 })
    for (const call of [
      durably.schedule('report', { job: report, every: '2h', payload: {} }, { ifVersion: 1 }),
      durably.schedules.resume('report', { ifVersion: 1 }),
      durably.schedules.trigger('report', { ifVersion: 1 }),
      durably.schedules.delete('report', { ifVersion: 1 }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'version_mismatch', expected: 1, actual: 2 })
    expect(await durably.schedule('report', { job: report, every: '2h', payload: {} }, { ifVersion: 2 })).toMatchObject({ version: 3 })
    await durably.schedules.delete('report', { ifVersion: 3 })
    const gone = durably.schedule('report', { job: report, every: '2h', payload: {} }, { ifVersion: 3 })
    await expect(gone).rejects.toMatchObject({ code: 'schedule_not_found' })
    const misspelt = durably.schedule('report', { job: report, every: '2h', payload: {} }, { version: 3 } as object)
    await expect(misspelt).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('"ifVersion"') })
    expect(await durably.schedules.list()).toEqual([])
  })

  test.each([
    ['once', [HOUR]],
    ['all', Array.from({ length: 5 }, (_, i) => HOUR - (4 - i) * MINUTE)],
    ['skip', [HOUR]],
  ] as const)('after an hour without a worker, misfire %s', async (misfire, expected) => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    const report = defineReport(durably)
    await durably.schedule({ job: report, every: '1m', payload: {}, misfire, misfireMax: 5 })
    await env.advance(HOUR + 500)
    durably.start()
    await env.advance(1)
    expect(await slots(durably)).toEqual(expected.map(at))
    await env.advance(MINUTE)
    expect(await slots(durably)).toEqual([...expected, HOUR + MINUTE].map(at))
  })

  test('misfire skip gives a time that is more than a minute late no run', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    await durably.schedule({ job: defineReport(durably), every: '10m', payload: {}, misfire: 'skip' })
    await env.advance(11 * MINUTE + 1)
    durably.start()
    await env.advance(1)
    expect(await slots(durably)).toEqual([])
    expect(await durably.schedules.get('report')).toMatchObject({ lastScheduledFor: at(10 * MINUTE), nextAt: at(20 * MINUTE) })
    await env.advance(9 * MINUTE)
    expect(await slots(durably)).toEqual([at(20 * MINUTE)])
  })

  test('a year without a worker costs as little as a minute', async () => {
    const { durably, env } = await setup(world)
    await durably.schedule({ job: defineReport(durably), cron: '* * * * * *', payload: {} })
    await durably.schedule('all', { job: 'report', cron: '* * * * * *', payload: {}, misfire: 'all', misfireMax: 3 })
    env.jump(366 * DAY)
    durably.start()
    await env.advance(10)
    expect(await slots(durably)).toHaveLength(1)
    expect(await slots(durably, 'all')).toHaveLength(3)
  })

  test.each([
    ['allow', 4, ['completed', 'running', 'running', 'running']],
    ['skip', 2, ['completed', 'running']],
    ['queue', 4, ['completed', 'running', 'pending', 'pending']],
    ['cancel', 4, ['cancelled', 'cancelled', 'cancelled', 'running']],
  ] as const)('overlap %s', async (overlap, count, statuses) => {
    const { durably, env } = await setup(world, { concurrency: 10 })
    durably.defineJob({ name: 'slow', input: z.unknown() }, async (ctx) => {
      await ctx.run(
        'work',
        ({ signal }) =>
          new Promise<void>((resolve) => {
            env.timer(25_000, resolve)
            signal.addEventListener('abort', () => resolve())
          }),
      )
    })
    durably.start()
    await durably.schedule('s', { job: 'slow', every: '10s', overlap })
    await env.advance(40_500)
    const runs = (await durably.getRuns({ scheduleId: 's' })).reverse()
    expect(runs.map(({ status }) => status)).toEqual(statuses)
    expect(runs).toHaveLength(count)
  })

  test('overlap cancel spares the run of its own time and of others', async () => {
    const { durably, env } = await setup(world, { concurrency: 10 })
    const other = durably.defineJob({ name: 'slow', input: z.unknown() }, (ctx) => ctx.sleep('long', '1h'))
    durably.start()
    await durably.schedule('s', { job: 'slow', every: '10s', overlap: 'cancel' })
    const { id } = await other.trigger({})
    const byHand = await durably.schedules.trigger('s')
    await env.advance(10_500)
    expect(await durably.getRun(byHand.id)).toMatchObject({ status: 'cancelled' })
    expect(await durably.getRun(id)).toMatchObject({ phase: 'sleeping' })
    expect((await durably.getRuns({ scheduleId: 's', status: 'pending' })).length).toBe(1)
  })

  test('jitter is a place of its own for each schedule, always the same', async () => {
    const { durably, env } = await setup(world)
    defineReport(durably)
    durably.start()
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await durably.schedule(id, { job: 'report', every: '1m', payload: {}, jitter: '30s' })
    await env.advance(3 * MINUTE)
    const places = await Promise.all(
      ids.map(async (id) => {
        const runs = await durably.getRuns({ scheduleId: id })
        return new Set(runs.map((run) => Date.parse(run.runAt) - Date.parse(run.scheduledFor ?? '')))
      }),
    )
    for (const place of places) expect(place.size).toBe(1)
    const all = places.flatMap((place) => [...place])
    expect(new Set(all).size).toBe(ids.length)
    expect(Math.max(...all)).toBeLessThan(30_000)
  })

  test('a time gets no second run after its run was deleted or purged, nor after the clock was set back', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    durably.start()
    await durably.schedule({ job: defineReport(durably), every: '1m', payload: {} })
    await env.advance(MINUTE + 10)
    await durably.deleteRuns({ scheduleId: 'report' })
    env.jump(-MINUTE)
    await env.advance(MINUTE)
    expect(await slots(durably)).toEqual([])
    await env.advance(MINUTE)
    expect(await slots(durably)).toEqual([at(2 * MINUTE)])
  })

  test('a clock that jumps a day ahead uses the last time, and one that jumps back waits until it is there again', async () => {
    const { durably, env } = await setup(world)
    const at = from(env.wall())
    durably.start()
    await durably.schedule({ job: defineReport(durably), every: '1h', payload: {} })
    env.jump(DAY)
    await env.advance(2000)
    expect(await slots(durably)).toEqual([at(DAY)])
    env.jump(-DAY)
    await env.advance(23 * HOUR)
    expect(await slots(durably)).toEqual([at(DAY)])
    await env.advance(2 * HOUR)
    expect(await slots(durably)).toEqual([at(DAY), at(DAY + HOUR)])
  })

  test('a schedule outlives its process, and a job that nobody has waits', async () => {
    const { durably, env, another } = await setup(world)
    const at = from(env.wall())
    await durably.schedule({ job: 'unknown', cron: '0 * * * *', payload: 'x' })
    durably.start()
    await env.advance(HOUR + 10)
    expect(await durably.getRuns({ scheduleId: 'unknown' })).toMatchObject([{ status: 'pending', payload: 'x', scheduledFor: at(HOUR) }])
    await durably.stop()
    const next = another()
    next.start()
    await env.advance(HOUR)
    expect(await slots(next, 'unknown')).toEqual([at(HOUR), at(2 * HOUR)])
  })

  test('a schedule whose firing the database rejects holds up neither other schedules nor the runs of the worker', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const at = from(env.wall())
    const events = listenTo(durably)
    const job = defineReport(durably)
    const error = new DurablyError('store_rejected', 'it cannot be stored')
    const only = (asked: unknown) => (asked as { scheduleId: string }).scheduleId === 'bad'
    faults.fail('cluster.fireSchedule', { when: 'before', times: Number.POSITIVE_INFINITY, error, only })
    for (const id of ['bad', 'good']) await durably.schedule(id, { job, every: '1m', payload: {} })
    durably.start()
    await env.advance(MINUTE)
    const { id } = await job.trigger({})
    await env.advance(SECOND)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await slots(durably, 'good')).toEqual([at(MINUTE)])
    const errors = ofType(events, 'worker:error')
    expect(errors[0]).toMatchObject({ error: 'schedule "bad" cannot be fired: it cannot be stored', cause: { code: 'store_rejected' } })
    expect(errors.length, 'once per look').toBe(faults.count('cluster.fireSchedule') - 1)
    faults.heal()
    await env.advance(SECOND)
    expect(await slots(durably, 'bad')).toEqual([at(MINUTE)])
  })

  test.each(['findSchedules', 'lead'] as const)(
    'duties that the database rejects as a whole (%s) do not keep the worker from its runs',
    async (verb) => {
      const { wrap, faults } = faulty()
      const { durably, env } = await setup(world, { wrap })
      const at = from(env.wall())
      const events = listenTo(durably)
      const job = defineReport(durably)
      await durably.schedule({ job, every: '1m', payload: {} })
      const error = new DurablyError('store_rejected', 'no')
      faults.fail(`cluster.${verb}`, { when: 'before', times: Number.POSITIVE_INFINITY, error })
      durably.start()
      await env.advance(MINUTE + 5 * SECOND)
      const { id } = await job.trigger({})
      await env.advance(SECOND)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
      expect(ofType(events, 'worker:error').length).toBeGreaterThanOrEqual(5)
      expect(ofType(events, 'worker:error').length).toBeLessThanOrEqual(12)
      faults.heal()
      await env.advance(SECOND)
      expect(await slots(durably)).toEqual([at(MINUTE)])
    },
  )

  test('more than a page of schedules that this process cannot read does not keep it from firing the others', async () => {
    const { durably, env, store } = await setup(world)
    const at = from(env.wall())
    const events = listenTo(durably)
    const job = defineReport(durably)
    await durably.schedule('readable', { job, every: '1m', payload: {} })
    const times = { cron: '* * * * *', everyMs: null, jitterMs: 0, nextAt: env.wall() - SECOND }
    const policies = { misfire: 'once', misfireMax: 100, overlap: 'allow' } as const
    const rest = { payload: null, concurrencyKey: null, labels: null, version: null }
    // As of a zone that only a newer process knows.
    for (let i = 0; i < 120; i++)
      await store.cluster?.putSchedule({ id: `${i}`, jobName: 'report', timezone: 'Europe/Newtown', ...times, ...policies, ...rest })
    durably.start()
    await env.advance(2 * MINUTE + SECOND)
    expect(await slots(durably, 'readable')).toEqual([at(MINUTE), at(2 * MINUTE)])
    expect(ofType(events, 'worker:error')[0]).toMatchObject({
      error: expect.stringContaining('schedule "0" cannot be fired by this process'),
    })
  })

  test('processUntilIdle fires what is due, and leaves the lead to others', async () => {
    const { durably, env, soon, store } = await setup(world)
    const at = from(env.wall())
    await durably.schedule({ job: defineReport(durably), every: '1m', payload: {} })
    expect(await soon(durably.processUntilIdle())).toBe(0)
    await env.advance(MINUTE)
    expect(await soon(durably.processUntilIdle())).toBe(1)
    expect(await slots(durably)).toEqual([at(MINUTE)])
    expect((await store.cluster?.leader())?.expiresInMs).toBeLessThanOrEqual(0)
    await env.advance(MINUTE)
    expect(await soon(durably.processOne())).toBe(true)
    expect(await soon(durably.processOne())).toBe(false)
  })

  test('drain ends, although a schedule never does', async () => {
    const { durably, env } = await setup(world)
    defineReport(durably, [], '60s')
    await durably.schedule({ job: 'report', every: '1s', payload: {} })
    await durably.schedules.trigger('report')
    await env.advance(5000)
    await drain(durably, env)
    expect(await slots(durably)).toEqual([null])
  })

  test('bad input is refused with its reason', async () => {
    const { durably } = await setup(world)
    const job = defineReport(durably)
    const refused = async (options: object, message: RegExp, code = 'invalid_argument') =>
      expect(durably.schedule({ job, payload: {}, ...options } as never)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      })
    await refused({}, /either cron or every/)
    await refused({ cron: '* * * * *', every: '1m' }, /either cron or every/)
    await refused({ cron: 'every day' }, /cron "every day" cannot be read.*five fields/)
    await refused({ cron: '61 * * * *' }, /cron "61 \* \* \* \*" cannot be read: .*minute/)
    await refused({ cron: '* * * * * * 2030' }, /cannot be read/)
    await refused({ cron: '0 0 30 2 *' }, /no time at all/)
    await refused({ cron: '* * * * *', timezone: 'Mars/Olympus' }, /timezone must be .* IANA .*"Mars\/Olympus"/)
    for (const timezone of ['Mars/Olympus', 'Europe/Berlin', '', null])
      await refused({ every: '1d', timezone }, /timezone is for cron; every counts from 1970 in UTC/)
    await refused({ every: '999ms' }, /at least one second/)
    await refused({ every: 'soon' }, /every must be/)
    await refused({ every: '1m', jitter: '2m' }, /jitter must be at most/)
    await refused({ cron: '* * * * *', jitter: '25h' }, /jitter must be at most/)
    await refused({ every: '1m', misfire: 'twice' }, /misfire cannot be "twice"/)
    await refused({ every: '1m', misfireMax: 0 }, /misfireMax/)
    await refused({ every: '1m', overlap: 'queued' }, /did you mean "queue"/)
    await refused({ every: '1m', crons: 'x' }, /no option "crons"; did you mean "cron"/)
    await refused({ every: '1m', payload: { page: 'x' } }, /payload of a schedule/, 'invalid_input')
    await refused({ every: '1m', job: undefined }, /id must be a string|job/, 'invalid_name')
    await expect(durably.schedule('', { job, every: '1m', payload: {} })).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.schedules.next('report', 0)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await durably.schedules.list()).toEqual([])
  })
})

describe.each(WORLDS)('several processes on %s', (world) => {
  test('one of them leads, each time gets one run, and another follows when it stops', async () => {
    const { durably, another, env, store } = await setup(world, { workerId: 'first' })
    const at = from(env.wall())
    const second = another({ workerId: 'second' })
    for (const instance of [durably, second]) defineReport(instance)
    await durably.schedule({ job: 'report', every: '10s', payload: {} })
    durably.start()
    await env.advance(10_000)
    second.start()
    await env.advance(30_000)
    expect(await store.cluster?.leader()).toMatchObject({ epoch: 1, workerId: 'first' })
    expect(await second.leader()).toMatchObject({ epoch: 1, workerId: 'first', electedAt: at(10_000), isLeading: true })
    await durably.stop()
    expect(await second.leader()).toMatchObject({ epoch: 1, isLeading: false })
    await env.advance(20_000)
    expect(await store.cluster?.leader()).toMatchObject({ epoch: 2, workerId: 'second' })
    expect(await slots(second)).toEqual([1, 2, 3, 4, 5, 6].map((i) => at(i * 10_000)))
  })

  test('a leader that is stopped while it looks for work does not lead again, until it is started', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, within } = await setup(world)
    const first = another({ workerId: 'first', wrap })
    defineReport(first)
    await first.schedule({ job: 'report', every: '1s', payload: {} })
    first.start()
    await env.advance(3500)
    expect(await durably.leader()).toMatchObject({ workerId: 'first', isLeading: true })
    const answer = faults.hold('runs.probe')
    await env.advance(1500)
    const stopped = first.stop()
    await env.advance(50)
    answer()
    await within(2000, stopped)
    expect(await durably.leader()).toMatchObject({ workerId: 'first', isLeading: false })
    first.start()
    await env.advance(2000)
    expect(await durably.leader()).toMatchObject({ workerId: 'first', isLeading: true })
  })

  test('a leader that is gone is replaced within its lease and a second', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, store } = await setup(world, { workerId: 'first', wrap })
    const at = from(env.wall())
    const second = another({ workerId: 'second' })
    await durably.schedule({ job: 'report', every: '1s', payload: {} })
    durably.start()
    await env.advance(10_000)
    second.start()
    faults.die()
    await env.advance(11_000)
    expect(await store.cluster?.leader()).toMatchObject({ epoch: 2, workerId: 'second' })
    const found = await slots(second)
    expect(found).toContain(at(10_000))
    expect(found).toContain(at(21_000))
    expect(new Set(found).size).toBe(found.length)
  })

  test.each([500, 8000])('a leader that is deposed %i ms after its election is refused, reports it once, and follows', async (afterMs) => {
    const { durably, env, store } = await setup(world)
    const at = from(env.wall())
    const events = listenTo(durably)
    await durably.schedule({ job: 'report', every: '1m', payload: {} })
    durably.start()
    await env.advance(MINUTE + afterMs)
    await durably.schedule('soon', { job: 'report', every: '1s', payload: {} })
    await store.cluster?.resign(1)
    await store.cluster?.lead({ workerId: 'usurper', token: 'usurper', leaseMs: 20_000 })
    await env.advance(12_000)
    expect(await slots(durably)).toEqual([at(MINUTE)])
    expect(await slots(durably, 'soon')).toEqual([])
    const errors = ofType(events, 'worker:error')
    expect(errors.map(({ cause }) => (cause as { code?: string }).code)).toEqual(['leader_deposed'])
  })
})

test.each<WorldName>(['memory'])('a store without schedules says so, on %s', async (world) => {
  const { durably } = await setup(world, {
    wrap({ cluster: _, ...store }) {
      return store
    },
  })
  await expect(durably.schedule({ job: 'x', every: '1m' })).rejects.toMatchObject({ code: 'schedules_unsupported' })
})
