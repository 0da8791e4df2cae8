// A run whose deadline is over when its worker is lost fails with `timeout`; its owner sees to it while there is one.
import type { NewRun } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { claim, complete, create, fail, get, held, LEASE_MS, leasesEnd, mustClaim } from './world.ts'

type NewTimes = Partial<Pick<NewRun, 'delayMs' | 'runAt' | 'deadlineMs' | 'deadlineAt'>>

export const deadlines = chapter('deadlines', {
  'a deadline is a time, or so long after the store has the run': async (world) => {
    const now = world.env.wall()
    equal((await create(world, { deadlineAt: now + 7 })).deadlineAt, now + 7, 'a time')
    equal((await create(world, { deadlineMs: 5 })).deadlineAt, now + 5, 'a duration')
    const other = await create(world, { idempotencyKey: 'k', deadlineMs: 5 })
    await world.env.advance(3)
    equal((await create(world, { idempotencyKey: 'k', deadlineMs: 5 })).deadlineAt, other.deadlineAt, 'of a run that is known')
  },

  'a run that could only start after its deadline is due at its deadline, and not before': async (world) => {
    const now = world.env.wall()
    const cases: [NewTimes, number][] = [
      [{ delayMs: 10, deadlineMs: 4 }, now + 4],
      [{ delayMs: 10, deadlineMs: 40 }, now + 10],
      [{ delayMs: 10, deadlineAt: now - 5 }, now],
      [{ runAt: now + 10, deadlineMs: 4 }, now + 4],
      [{ runAt: now + 10, deadlineAt: now + 40 }, now + 10],
      [{ runAt: now - 10, deadlineMs: 4 }, now - 10],
      [{ deadlineAt: now - 5 }, now],
      [{ deadlineMs: 4 }, now],
    ]
    for (const [times, runAt] of cases) equal((await create(world, times)).runAt, runAt, JSON.stringify(times))
  },

  'a lost run whose deadline is over fails with reason timeout': async (world) => {
    const owner = await held(world, { deadlineAt: world.env.wall() + LEASE_MS })
    await leasesEnd(world)
    const [reaped] = await world.store.runs.reap({ maxRecoveries: 10 })
    const row = await get(world, owner.run.id)
    deepEqual(reaped, { run: row, move: 'reclaimTimedOut' }, 'answer')
    const { status, reason, finishedAt, recoveries, failure, deadlineAt } = row
    deepEqual([status, reason, finishedAt, recoveries], ['failed', 'timeout', world.env.wall(), 0], 'the row')
    equal(deadlineAt, owner.run.deadlineAt, 'its deadline')
    equal(JSON.parse(failure ?? '{}').code, 'timeout', 'the code of its failure')
    const event = (await world.store.events.list(row.id)).at(-1)
    const payload = { error: row.error, failure: { name: 'DurablyError', code: 'timeout', message: row.error }, failedStepName: '' }
    deepEqual([event?.type, JSON.parse(event?.payload ?? '{}')], ['run:fail', payload], 'the event')
  },

  'a lost run whose deadline is ahead goes on, and fails when it is lost again after it': async (world) => {
    await create(world, { deadlineAt: world.env.wall() + 2 * LEASE_MS })
    await mustClaim(world)
    await leasesEnd(world)
    equal((await world.store.runs.reap({ maxRecoveries: 10 }))[0]?.move, 'reclaim', 'the first time')
    await mustClaim(world)
    await leasesEnd(world)
    equal((await world.store.runs.reap({ maxRecoveries: 10 }))[0]?.move, 'reclaimTimedOut', 'the second time')
  },

  'a deadline is over when its time has come, not before': async (world) => {
    const leaseEnd = world.env.wall() + LEASE_MS
    for (const [jobName, deadlineAt] of [
      ['over', leaseEnd],
      ['ahead', leaseEnd + 1],
    ] as const)
      await held(world, { jobName, deadlineAt })
    await world.env.advance(LEASE_MS)
    const moves = (await world.store.runs.reap({ maxRecoveries: 10 })).map(({ run, move }) => `${run.jobName} ${move}`)
    deepEqual(moves.sort(), ['ahead reclaim', 'over reclaimTimedOut'], 'moves')
  },

  'a cancel goes before a deadline, a deadline before the count of recoveries': async (world) => {
    const deadlineAt = world.env.wall() + 1
    const cancelled = await held(world, { jobName: 'cancelled', deadlineAt })
    await world.store.runs.cancel(cancelled.run.id)
    await held(world, { jobName: 'late', deadlineAt })
    await leasesEnd(world)
    const moves = (await world.store.runs.reap({ maxRecoveries: 0 })).map(({ run, move }) => `${run.jobName} ${move}`)
    deepEqual(moves.sort(), ['cancelled reclaimCancelled', 'late reclaimTimedOut'], 'moves')
  },

  'an owner may still end a run whose deadline is over': async (world) => {
    const owner = await held(world, { deadlineAt: world.env.wall() + 1 })
    await world.env.advance(2)
    deepEqual(await world.store.runs.reap({ maxRecoveries: 10 }), [], 'its lease is not over')
    await owner.succeed(complete())
  },

  'a manual retry lifts a deadline that is over, and keeps one that is ahead': async (world) => {
    const deadlineAt = world.env.wall() + 1000
    for (const [jobName, waitMs, kept] of [
      ['ahead', 999, deadlineAt],
      ['over', 1, null],
    ] as const) {
      const owner = await held(world, { jobName, deadlineAt })
      await owner.succeed(fail())
      await world.env.advance(waitMs)
      const answer = await world.store.runs.retry(owner.run.id)
      const row = await get(world, owner.run.id)
      deepEqual(answer, { outcome: 'retried', run: row }, 'answer')
      equal(row.deadlineAt, kept, jobName)
    }
  },

  'a run whose deadline is over before it starts is claimed all the same': async (world) => {
    const { id } = await create(world, { deadlineAt: world.env.wall() - 1 })
    equal((await claim(world))?.run.id, id, 'the owner fails it')
  },
})
