import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, create, held, JOB, unchanged } from './world.ts'

export const oldestDueChapter = chapter('the oldest due run', {
  'an empty store has none, and no job has none': async (world) => {
    equal(await world.store.runs.oldestDue([JOB]), null, 'an empty store')
    await create(world)
    equal(await world.store.runs.oldestDue([]), null, 'no job')
    equal(await world.store.runs.oldestDue(['other']), null, 'another job')
  },

  'it is the one that has been due for longest, of all these jobs': async (world) => {
    const late = await create(world, { jobName: 'a', delayMs: 2000 })
    const first = await create(world, { jobName: 'b', delayMs: 1000 })
    await create(world, { jobName: 'c' })
    const { runs } = world.store
    equal(await runs.oldestDue(['a', 'b']), null, 'nothing is due')
    await world.env.advance(5000)
    const expected = { id: first.id, jobName: 'b', runAt: first.runAt, lagMs: 4000 }
    deepEqual(await runs.oldestDue(['a', 'b']), expected, 'of two jobs')
    deepEqual(await runs.oldestDue(['b', 'a', 'none']), expected, 'whatever their order')
    equal((await runs.oldestDue(['a']))?.id, late.id, 'of one job')
  },

  'a run that executes or has ended is not due, one whose key is held is': async (world) => {
    const owner = await held(world, { concurrencyKey: 'k' })
    equal(await world.store.runs.oldestDue([JOB]), null, 'while it executes')
    await world.env.advance(1)
    const next = await create(world, { concurrencyKey: 'k' })
    equal((await world.store.runs.oldestDue([JOB]))?.id, next.id, 'behind its key')
    await owner.succeed(complete())
    equal((await world.store.runs.oldestDue([JOB]))?.id, next.id, 'after the end of the other one')
  },

  'looking for it writes nothing': async (world) => {
    const { id } = await create(world)
    await unchanged(world, id, () => world.store.runs.oldestDue([JOB]))
  },
})
