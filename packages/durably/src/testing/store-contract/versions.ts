// `{ ifVersion }`: a caller can demand that a run has not changed since it was read.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, create, everything, get, held, inStatus, mustClaim, newRun, unchanged } from './world.ts'

export const versions = chapter('only if the version is the same', {
  'cancel, retry and delete of another version change nothing and return the present version': async (world) => {
    for (const [verb, status] of [
      ['cancel', 'pending'],
      ['cancel', 'running'],
      ['cancel', 'completed'],
      ['retry', 'failed'],
      ['retry', 'pending'],
      ['delete', 'completed'],
      ['delete', 'running'],
    ] as const) {
      const { id } = await inStatus(world, status, `${verb} ${status}`)
      const { version } = await get(world, id)
      for (const ifVersion of [version - 1, version + 1]) {
        const answer = await unchanged<unknown>(world, id, () => world.store.runs[verb](id, { ifVersion }))
        deepEqual(answer, { outcome: 'changed', version }, `${verb} of a ${status} run`)
      }
    }
  },

  'the same version acts as if none was asked for': async (world) => {
    for (const [verb, status, outcome] of [
      ['cancel', 'pending', 'cancelled'],
      ['cancel', 'running', 'requested'],
      ['cancel', 'completed', 'refused'],
      ['retry', 'failed', 'retried'],
      ['retry', 'completed', 'refused'],
      ['delete', 'failed', 'deleted'],
      ['delete', 'pending', 'refused'],
    ] as const) {
      const { id } = await inStatus(world, status, `${verb} ${status}`)
      const { version } = await get(world, id)
      equal((await world.store.runs[verb](id, { ifVersion: version }))?.outcome, outcome, `${verb} of a ${status} run`)
    }
  },

  'a run that was asked to stop before is still asked, if its version is the same': async (world) => {
    const { run } = await held(world)
    await world.store.runs.cancel(run.id)
    const { version } = await get(world, run.id)
    equal((await world.store.runs.cancel(run.id, { ifVersion: version }))?.outcome, 'requested', 'outcome')
  },

  'there is no run, whatever its version': async (world) => {
    const id = world.env.id()
    const options = { ifVersion: 1 }
    const answers = [await world.store.runs.cancel(id, options), await world.store.runs.retry(id, options)]
    deepEqual([...answers, await world.store.runs.delete(id, options)], [null, null, null], 'answers')
  },

  'of ten callers that saw the same version one cancels': async (world) => {
    const { id, version } = await create(world)
    const cancels = Array.from({ length: 10 }, () => world.store.runs.cancel(id, { ifVersion: version }))
    const outcomes = (await Promise.all(cancels)).map((answer) => answer?.outcome)
    deepEqual(outcomes.sort(), ['cancelled', ...Array(9).fill('changed')], 'outcomes')
  },

  'a cancel that comes after a claim of the same version is not accepted': async (world) => {
    const { id, version } = await create(world)
    const owner = await mustClaim(world)
    equal((await world.store.runs.cancel(id, { ifVersion: version }))?.outcome, 'changed', 'outcome')
    equal((await get(world, id)).cancelRequestedAt, null, 'not asked')
    await owner.succeed(complete())
  },

  'a child whose version is another does not wake its parent': async (world) => {
    const parent = await create(world, { runAt: world.env.wall() + 60_000 })
    const [child] = await world.store.runs.create([newRun(world, { parentRunId: parent.id })])
    const id = child?.run.id ?? ''
    await world.store.runs.cancel(id)
    const before = await everything(world, parent.id)
    await world.env.advance(10)
    await world.store.runs.cancel(id, { ifVersion: 5 })
    deepEqual(await everything(world, parent.id), before, 'the parent')
  },
})
