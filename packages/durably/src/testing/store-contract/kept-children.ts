// Runs that have ended and are kept, because their parent may ask for them or they wait for those that they triggered.
import { type RunStatus, TERMINAL_STATUSES } from '../../model/run.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { below, CHILD, FOR_A_CHILD, family } from './family.ts'
import { abandon, complete, fail, get, held, ids, mustClaim, release, unchanged } from './world.ts'

const EVERYTHING = { statuses: TERMINAL_STATUSES, olderThanMs: 0, limit: 100 }

/** Neither a delete nor a purge takes it. */
async function keeps(world: World, id: string, status: RunStatus, when: string): Promise<void> {
  const answer = await unchanged(world, id, () => world.store.runs.delete(id))
  deepEqual(answer, { outcome: 'refused', status }, `delete while ${when}`)
  equal(await unchanged(world, id, () => world.store.runs.purge(EVERYTHING)), 0, `purged while ${when}`)
}

export const keptChildren = chapter('kept children', {
  'a child that has ended is kept as long as its parent may ask for it': async (world) => {
    const { parent, child } = await family(world)
    await child.succeed(complete())
    await keeps(world, child.run.id, 'completed', 'its parent is running')
    await parent.succeed(FOR_A_CHILD)
    await keeps(world, child.run.id, 'completed', 'its parent is pending')
    const again = await mustClaim(world)
    await again.succeed(fail())
    const answer = await unchanged(world, child.run.id, () => world.store.runs.delete(child.run.id))
    deepEqual(answer, { outcome: 'refused', status: 'completed' }, 'delete while its parent is failed')
    await world.store.runs.retry(parent.run.id)
    await (await mustClaim(world)).succeed(complete())
    deepEqual(await world.store.runs.delete(child.run.id), { outcome: 'deleted', status: 'completed' }, 'delete after its end')
  },

  'a child is purged at once when its parent cannot ask for it any more, else after the parent is gone': async (world) => {
    for (const [how, end, pages] of [
      ['completed', complete(), [2, 0]],
      ['cancelled', abandon(), [2, 0]],
      ['failed', fail(), [1, 1, 0]],
    ] as const) {
      const { parent, child } = await family(world)
      await child.succeed(complete())
      await parent.succeed(end)
      const gone: number[] = []
      for (const _ of pages) gone.push(await world.store.runs.purge(EVERYTHING))
      deepEqual(gone, [...pages], `pages when its parent has ${how}`)
    }
  },

  'a cancelled run is kept as long as one that it triggered has not ended': async (world) => {
    const { parent, child } = await family(world)
    await parent.succeed(abandon())
    await keeps(world, parent.run.id, 'cancelled', 'its child is running')
    await child.succeed(release())
    await keeps(world, parent.run.id, 'cancelled', 'its child is pending')
    await (await mustClaim(world, [CHILD])).succeed(complete())
    deepEqual(await world.store.runs.delete(parent.run.id), { outcome: 'deleted', status: 'cancelled' }, 'delete after that')
  },

  'a run with another end does not wait for those that it triggered': async (world) => {
    for (const end of [complete(), fail()]) {
      const parent = await held(world, { jobName: end.type })
      const child = await below(world, parent.run.id, `below ${end.type}`)
      await parent.succeed(end)
      equal((await world.store.runs.delete(parent.run.id))?.outcome, 'deleted', end.type)
      deepEqual(await get(world, child.id), child, 'the child')
    }
  },

  'a purge that keeps a child takes others of its age, and takes it when its parent is gone': async (world) => {
    const { parent, child } = await family(world)
    await child.succeed(complete())
    const other = await held(world, { jobName: CHILD })
    await other.succeed(complete())
    equal(await world.store.runs.purge({ ...EVERYTHING, limit: 1 }), 1, 'how many')
    deepEqual(ids(await world.store.runs.list({})), ids([child.run, parent.run]), 'what is left')
    await parent.succeed(complete())
    await world.store.runs.delete(parent.run.id)
    equal(await world.store.runs.purge(EVERYTHING), 1, 'how many when its parent is gone')
  },
})
