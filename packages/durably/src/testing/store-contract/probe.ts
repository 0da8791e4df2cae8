import { LEASE_MS_MAX } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, create, heartbeat, held, JOB, LEASE_MS, leasesEnd, unchanged } from './world.ts'

const IDLE = { due: false, stale: false, nextInMs: null }

export const probeChapter = chapter('probe', {
  'an empty store has nothing to do, now or later': async (world) => {
    deepEqual(await world.store.runs.probe([JOB]), IDLE, 'probe')
    deepEqual(await world.store.runs.probe([]), IDLE, 'for no job')
  },

  'a pending run of a registered job is due': async (world) => {
    await create(world)
    deepEqual(await world.store.runs.probe(['other', JOB]), { ...IDLE, due: true }, 'probe')
  },

  'runs of other jobs are none of its business': async (world) => {
    await create(world, { jobName: 'other' })
    deepEqual(await world.store.runs.probe([JOB]), IDLE, 'a due run')
    world.env.jump(-5000)
    deepEqual(await world.store.runs.probe([JOB]), IDLE, 'a run ahead')
    deepEqual(await world.store.runs.probe([]), IDLE, 'for no job')
  },

  'a run ahead says in how many milliseconds it falls due': async (world) => {
    await create(world)
    world.env.jump(-5000)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, nextInMs: 5000 }, 'ahead')
    await world.env.advance(4999)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, nextInMs: 1 }, 'a millisecond before')
    await world.env.advance(1)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, due: true }, 'when it is due')
  },

  'a lease says when it ends, whatever job it belongs to': async (world) => {
    await held(world, { jobName: 'other' })
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, nextInMs: LEASE_MS }, 'at the start')
    await world.env.advance(LEASE_MS - 1)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, nextInMs: 1 }, 'a millisecond before')
    await world.env.advance(1)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, stale: true }, 'when it is over')
  },

  'a renewed lease ends later': async (world) => {
    const owner = await held(world)
    await world.env.advance(LEASE_MS - 1000)
    await owner.succeed(heartbeat())
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, nextInMs: LEASE_MS }, 'probe')
  },

  'the nearest of what is ahead is reported, past what is due': async (world) => {
    await create(world, { jobName: 'far' })
    world.env.jump(-20_000)
    await create(world, { jobName: 'near' })
    world.env.jump(-5_000)
    await create(world, { jobName: 'due' })
    deepEqual(await world.store.runs.probe(['far', 'near', 'due']), { due: true, stale: false, nextInMs: 5_000 }, 'pending runs')
    await held(world, { jobName: 'held' })
    await world.env.advance(4_000)
    deepEqual(await world.store.runs.probe(['far', 'due']), { due: true, stale: false, nextInMs: 21_000 }, 'before the lease ends')
    deepEqual(await world.store.runs.probe(['due']), { due: true, stale: false, nextInMs: LEASE_MS - 4_000 }, 'the lease')
  },

  'within a job, what is due does not hide what is ahead': async (world) => {
    await create(world)
    world.env.jump(-3_000)
    await create(world)
    deepEqual(await world.store.runs.probe([JOB]), { due: true, stale: false, nextInMs: 3_000 }, 'probe')
  },

  'a lease that is over does not hide one that lasts': async (world) => {
    await held(world, { jobName: 'lost' })
    await leasesEnd(world)
    await held(world, { jobName: 'alive' })
    deepEqual(await world.store.runs.probe([JOB]), { due: false, stale: true, nextInMs: LEASE_MS }, 'probe')
  },

  'a run is due even while its key is held': async (world) => {
    await held(world, { concurrencyKey: 'k' })
    await create(world, { concurrencyKey: 'k' })
    deepEqual(await world.store.runs.probe([JOB]), { due: true, stale: false, nextInMs: LEASE_MS }, 'probe')
    deepEqual(await world.store.runs.claim({ jobNames: [JOB], tokens: ['t'], leaseMs: LEASE_MS }), [], 'a claim')
    equal((await world.store.runs.probe([JOB])).due, true, 'still due')
  },

  'a lease that a broken clock put far ahead is stale and not waited for': async (world) => {
    await held(world)
    world.env.jump(-LEASE_MS_MAX)
    deepEqual(await world.store.runs.probe([JOB]), { ...IDLE, stale: true }, 'probe')
  },

  'what has ended is not waited for': async (world) => {
    const owner = await held(world)
    await owner.succeed(complete())
    const { id } = await create(world)
    await world.store.runs.cancel(id)
    deepEqual(await world.store.runs.probe([JOB]), IDLE, 'probe')
  },

  'a probe writes nothing': async (world) => {
    const owner = await held(world)
    await leasesEnd(world)
    await unchanged(world, owner.run.id, () => world.store.runs.probe([JOB]))
  },
})
