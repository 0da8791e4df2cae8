import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, create, held, leasesEnd, park, unchanged } from './world.ts'

export const waitedFor = chapter('what a run waits for', {
  'the child of a step is found by its parent and the step': async (world) => {
    const parent = await held(world)
    const ofParent = { parentRunId: parent.run.id, parentToken: parent.claim.token }
    const child = await create(world, { ...ofParent, parentStep: 'first', jobName: 'child' })
    await create(world, { ...ofParent, parentStep: 'second', jobName: 'child' })
    const { runs } = world.store
    deepEqual(await runs.getChild(parent.run.id, 'first'), await runs.get(child.id), 'the child')
    equal((await runs.getChild(parent.run.id, 'second'))?.parentStep, 'second', 'the step of the other one')
    equal(await runs.getChild(parent.run.id, 'third'), null, 'a step without a child')
    equal(await runs.getChild(child.id, 'first'), null, 'a run without children')
  },

  'a child that has ended is still found': async (world) => {
    const parent = await held(world)
    const child = await held(world, {
      parentRunId: parent.run.id,
      parentStep: 'only',
      parentToken: parent.claim.token,
      jobName: 'child',
    })
    await child.succeed(complete())
    equal((await world.store.runs.getChild(parent.run.id, 'only'))?.status, 'completed', 'its status')
  },

  'a concurrency key is held by the run that is running, and by nobody else': async (world) => {
    const { runs } = world.store
    equal(await runs.getHolder('k'), null, 'nobody has the key')
    const owner = await held(world, { concurrencyKey: 'k' })
    await create(world, { concurrencyKey: 'k' })
    deepEqual(await runs.getHolder('k'), await runs.get(owner.run.id), 'the holder')
    equal(await runs.getHolder('other'), null, 'another key')
    await leasesEnd(world)
    equal((await runs.getHolder('k'))?.id, owner.run.id, 'a lease that is over holds the key until the run is taken back')
  },

  'a run that has ended or is parked holds no key': async (world) => {
    const { runs } = world.store
    const ended = await held(world, { concurrencyKey: 'k' })
    await ended.succeed(complete())
    equal(await runs.getHolder('k'), null, 'after the end')
    const parked = await held(world, { concurrencyKey: 'k' })
    await parked.succeed(park([{ name: 'approval', kind: 'signal', dueAt: null }]))
    equal(await runs.getHolder('k'), null, 'after it was parked')
  },

  'looking for a child or a holder writes nothing': async (world) => {
    const owner = await held(world, { concurrencyKey: 'k' })
    await unchanged(world, owner.run.id, () => world.store.runs.getHolder('k'))
    await unchanged(world, owner.run.id, () => world.store.runs.getChild(owner.run.id, 'step'))
  },
})
