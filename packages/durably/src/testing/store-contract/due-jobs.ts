import { deepEqual } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { complete, create, held, park, unchanged } from './world.ts'

const due = async ({ store }: World, waitedMs = 0, except: string[] = [], limit = 100) =>
  (await store.runs.dueJobs({ waitedMs, except, limit })).sort()

export const dueJobsChapter = chapter('the jobs that have due runs', {
  'an empty store has none': async (world) => {
    deepEqual(await due(world), [], 'jobs')
  },

  'each job is named once, without those that are known': async (world) => {
    for (const jobName of ['b', 'a', 'b', 'ä', 'c', 'B', 'a']) await create(world, { jobName })
    deepEqual(await due(world), ['B', 'a', 'b', 'c', 'ä'].sort(), 'all of them')
    deepEqual(await due(world, 0, ['a', 'c', 'not there']), ['B', 'b', 'ä'].sort(), 'without some')
    deepEqual(await due(world, 0, ['B', 'a', 'b', 'c', 'ä']), [], 'without any')
    deepEqual((await due(world, 0, ['a'], 2)).length, 2, 'no more than wanted')
  },

  'only runs that have been due for so long count': async (world) => {
    await create(world, { jobName: 'old' })
    await create(world, { jobName: 'later', delayMs: 8000 })
    await world.env.advance(5000)
    await create(world, { jobName: 'new' })
    await create(world, { jobName: 'old', delayMs: 60_000 })
    deepEqual(await due(world, 5000), ['old'], 'after five seconds')
    deepEqual(await due(world, 5001), [], 'a moment longer')
    deepEqual(await due(world), ['new', 'old'], 'due at all')
    await world.env.advance(8000)
    deepEqual(await due(world, 5000), ['later', 'new', 'old'], 'later')
  },

  'runs that execute, sleep or have ended do not count': async (world) => {
    await held(world, { jobName: 'executing' })
    await (await held(world, { jobName: 'ended' })).succeed(complete())
    const asleep = await held(world, { jobName: 'asleep' })
    await asleep.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() + 60_000 }]))
    await create(world, { jobName: 'waits for a key', concurrencyKey: 'k' })
    deepEqual(await due(world), ['waits for a key'], 'jobs')
  },

  'looking for them writes nothing': async (world) => {
    const { id } = await create(world)
    await unchanged(world, id, () => due(world))
  },
})
