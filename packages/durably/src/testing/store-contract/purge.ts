// Runs that ended long ago go, the oldest first, with all that belongs to them.
import { TERMINAL_STATUSES } from '../../model/run.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { attachmentsOf, complete, create, everything, fail, held, ids, inStatus, JOB, logLine, newSignal, recordStep } from './world.ts'

const ALL = { statuses: TERMINAL_STATUSES, olderThanMs: 0, limit: 100 }

/** They end a millisecond apart, the last created first. */
async function ended(world: World, count: number): Promise<string[]> {
  const owners = []
  for (let i = 0; i < count; i++) owners.push(await held(world, { jobName: `job ${i}` }))
  for (const owner of owners.reverse()) {
    await world.env.advance(1)
    await owner.succeed(complete())
  }
  return owners.map(({ run }) => run.id)
}

async function left({ store }: World): Promise<string[]> {
  return ids(await store.runs.list({})).sort()
}

export const purge = chapter('purge', {
  'only runs that have ended go, and only those of the wanted statuses': async (world) => {
    const runs = new Map<string, string>()
    for (const status of ['pending', 'running', ...TERMINAL_STATUSES] as const) runs.set(status, (await inStatus(world, status, status)).id)
    equal(await world.store.runs.purge({ ...ALL, statuses: ['completed', 'cancelled'] }), 2, 'how many')
    deepEqual(await left(world), ['pending', 'running', 'failed'].map((status) => runs.get(status) ?? '').sort(), 'what is left')
    equal(await world.store.runs.purge({ ...ALL, statuses: [] }), 0, 'no status')
    equal(await world.store.runs.purge(ALL), 1, 'every status')
    deepEqual(await left(world), ['pending', 'running'].map((status) => runs.get(status) ?? '').sort(), 'what is left in the end')
  },

  'a run is purged when it ended long enough ago, not before': async (world) => {
    const owner = await held(world)
    await owner.succeed(complete())
    await world.env.advance(999)
    equal(await world.store.runs.purge({ ...ALL, olderThanMs: 1000 }), 0, 'a millisecond before')
    await world.env.advance(1)
    equal(await world.store.runs.purge({ ...ALL, olderThanMs: 1000 }), 1, 'then')
  },

  'the limit is kept, and those that ended first go first': async (world) => {
    const inOrder = await ended(world, 5)
    equal(await world.store.runs.purge({ ...ALL, limit: 2 }), 2, 'the first page')
    deepEqual(await left(world), inOrder.slice(2).sort(), 'what is left')
    equal(await world.store.runs.purge({ ...ALL, limit: 2 }), 2, 'the second page')
    deepEqual(await left(world), inOrder.slice(4), 'what is left then')
    equal(await world.store.runs.purge({ ...ALL, limit: 2 }), 1, 'the last page')
    equal(await world.store.runs.purge({ ...ALL, limit: 2 }), 0, 'nothing')
  },

  'of those that ended at the same time the lower ids go first': async (world) => {
    const runs = []
    for (const name of ['b', 'c', 'a']) runs.push((await inStatus(world, 'completed', name)).id)
    await world.store.runs.purge({ ...ALL, limit: 1 })
    deepEqual(await left(world), runs.sort().slice(1), 'what is left')
  },

  'the runs of other jobs stay': async (world) => {
    const { id } = await inStatus(world, 'failed', 'mine')
    const other = await inStatus(world, 'failed', 'other')
    equal(await world.store.runs.purge({ ...ALL, jobNames: ['mine', 'unknown'] }), 1, 'how many')
    equal(await world.store.runs.get(id), null, 'mine')
    deepEqual(await left(world), [other.id], 'what is left')
    equal(await world.store.runs.purge({ ...ALL, jobNames: [] }), 0, 'no job')
  },

  'all that belongs to a run is purged with it, and its idempotency key is free': async (world) => {
    const owner = await held(world, { idempotencyKey: 'k', concurrencyKey: 'c' })
    const { id } = owner.run
    await owner.succeed(recordStep(owner), attachmentsOf(owner))
    await world.store.logs.append([logLine(world, id)])
    await world.store.signals.send(newSignal(world, id))
    await owner.succeed(fail())
    equal(await world.store.runs.purge(ALL), 1, 'how many')
    deepEqual(await everything(world, id), { run: null, steps: [], events: [], logs: [], signals: [] }, 'what is left')
    equal((await create(world, { idempotencyKey: 'k' })).id !== id, true, 'a new run with its key')
  },

  'a run that was sent back is not purged': async (world) => {
    const { id } = await inStatus(world, 'failed', JOB)
    await world.env.advance(10)
    await Promise.all([world.store.runs.retry(id), world.store.runs.purge(ALL)])
    const row = await world.store.runs.get(id)
    equal(row === null || row.status === 'pending', true, 'it is gone, or it goes on')
    const again = await inStatus(world, 'failed', 'again')
    await world.store.runs.retry(again.id)
    equal(await world.store.runs.purge(ALL), 0, 'how many')
  },
})
