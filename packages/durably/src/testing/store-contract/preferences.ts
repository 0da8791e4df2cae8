// A run that prefers a worker is left to it for a short time, while that worker is there.
import type { NewRun } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { assignNow, clusterOf, elect, WORKER_MS, workerEntry } from './cluster-world.ts'
import { complete, create, get, held, ids, JOB, LEASE_MS, Owner, park, release } from './world.ts'

const A = 'worker a'
const B = 'worker b'
const PREFER_MS = 2000
const PREFERS_A = { preferWorkerId: A }

const enter = (world: World, id = A) => clusterOf(world).attend(workerEntry({ id, token: `process of ${id}` }))

async function claimOpen(world: World, workerId: string, wanted = 5, jobNames: readonly string[] = [JOB]): Promise<Owner[]> {
  const tokens = Array.from({ length: wanted }, () => world.env.id())
  const runs = await clusterOf(world).claimOpen({ jobNames, tokens, leaseMs: LEASE_MS, workerId, preferMs: PREFER_MS })
  return runs.map((run) => new Owner(world, run, run.leaseOwner ?? ''))
}

const claimedBy = async (world: World, workerId: string, wanted = 5) => (await claimOpen(world, workerId, wanted)).map(({ run }) => run.id)

/** In their turn. */
async function createAll(world: World, ...runs: Partial<NewRun>[]): Promise<string[]> {
  const created: string[] = []
  for (const run of runs) {
    created.push((await create(world, run)).id)
    await world.env.advance(1)
  }
  return created
}

export const preferencesChapter = chapter('preferred workers', {
  'a run knows the worker that it prefers': async (world) => {
    const [id = '', other = ''] = await createAll(world, { preferWorkerId: 'host/"7"/é' }, {})
    equal((await get(world, id)).preferWorkerId, 'host/"7"/é', 'a name')
    equal((await get(world, other)).preferWorkerId, null, 'none')
    await elect(world)
    const found = await clusterOf(world).findUnassigned({ jobNames: [JOB], limit: 2 })
    deepEqual(
      found.map(({ preferWorkerId }) => preferWorkerId),
      ['host/"7"/é', null],
      'what a leader is told',
    )
  },

  'its worker takes it at once, and others leave it alone meanwhile': async (world) => {
    await enter(world)
    const [first, preferring, last] = await createAll(world, {}, PREFERS_A, {})
    deepEqual(await claimedBy(world, B), [first, last], 'another worker')
    deepEqual(await claimedBy(world, A), [preferring], 'the preferred one')
  },

  'a claim of one run goes past those that are left to others': async (world) => {
    await enter(world)
    const [, , open] = await createAll(world, PREFERS_A, PREFERS_A, {})
    deepEqual(await claimedBy(world, B, 1), [open], 'claimed')
    deepEqual(await claimedBy(world, B, 1), [], 'then')
  },

  'after its time any worker takes it': async (world) => {
    await enter(world)
    const { id, runAt } = await create(world, PREFERS_A)
    await world.env.advance(runAt + PREFER_MS - 1 - world.env.wall())
    deepEqual(await claimedBy(world, B), [], 'a millisecond before')
    await world.env.advance(1)
    deepEqual(await claimedBy(world, B), [id], 'then')
  },

  'the time begins when the run is due': async (world) => {
    await enter(world)
    const { id } = await create(world, { ...PREFERS_A, delayMs: 5000 })
    await world.env.advance(5000)
    deepEqual(await claimedBy(world, B), [], 'when it is due')
    await world.env.advance(PREFER_MS)
    deepEqual(await claimedBy(world, B), [id], 'later')
  },

  'a worker that is unknown, draining, detached, silent or gone is not waited for': async (world) => {
    const isTaken = async (why: string) => {
      const { id } = await create(world, PREFERS_A)
      deepEqual(await claimedBy(world, B), [id], why)
    }
    await isTaken('unknown')
    await enter(world)
    for (const state of ['draining', 'detached'] as const) {
      await clusterOf(world).switchWorker(A, state)
      await isTaken(state)
    }
    await clusterOf(world).switchWorker(A, 'attached')
    const { id } = await create(world, PREFERS_A)
    deepEqual(await claimedBy(world, B), [], 'attached')
    await world.env.advance(WORKER_MS)
    deepEqual(await claimedBy(world, B), [id], 'later')
    await isTaken('silent')
    await enter(world)
    await clusterOf(world).leave({ id: A, token: `process of ${A}` })
    await isTaken('gone')
  },

  'no run overtakes an earlier one of its key that is left to another worker': async (world) => {
    await enter(world)
    const key = { concurrencyKey: 'session' }
    const [first, second, unrelated] = await createAll(world, { ...key, ...PREFERS_A }, key, { concurrencyKey: 'other' })
    deepEqual(await claimedBy(world, B), [unrelated], 'another worker')
    const [owner, ...others] = await claimOpen(world, A)
    deepEqual([owner?.run.id, others.length], [first, 0], 'the preferred one')
    await owner?.succeed(complete())
    deepEqual(await claimedBy(world, B), [second], 'then')
  },

  'a later run of a key that is left to another worker holds up no earlier one': async (world) => {
    await enter(world)
    const key = { concurrencyKey: 'session' }
    const [first] = await createAll(world, key, { ...key, ...PREFERS_A })
    deepEqual(await claimedBy(world, B), [first], 'claimed')
  },

  'an earlier run of a key counts also if it is of another job': async (world) => {
    await enter(world)
    const [, second] = await createAll(world, { concurrencyKey: 'k', jobName: 'other', ...PREFERS_A }, { concurrencyKey: 'k' })
    deepEqual(await claimedBy(world, B), [], 'while the earlier one waits')
    await world.env.advance(PREFER_MS)
    deepEqual(await claimedBy(world, B), [second], 'when its time is over')
  },

  'a run that holds its key goes on at the worker that it prefers, and does not wait for others': async (world) => {
    await enter(world)
    const owner = await held(world, { concurrencyKey: 'k', holdKey: true })
    const [waiting] = await createAll(world, { concurrencyKey: 'k', ...PREFERS_A })
    await owner.succeed(release())
    deepEqual(await claimedBy(world, B), [owner.run.id], 'the holder')
    deepEqual(await claimedBy(world, A), [], `${waiting} while the key is held`)
  },

  'it prefers its worker again when it has slept': async (world) => {
    await enter(world)
    const { id } = await create(world, PREFERS_A)
    const [owner] = await claimOpen(world, A)
    await owner?.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() + 60_000 }]))
    await world.env.advance(60_000)
    await enter(world)
    deepEqual(await claimedBy(world, B), [], 'another worker')
    deepEqual(await claimedBy(world, A), [id], 'its own')
  },

  'a claim of open runs that is sent again finds its runs': async (world) => {
    const { id } = await create(world)
    const request = { jobNames: [JOB], tokens: ['token'], leaseMs: LEASE_MS, workerId: B, preferMs: PREFER_MS }
    const [first] = await clusterOf(world).claimOpen(request)
    deepEqual([first?.id, await clusterOf(world).claimOpen(request)], [id, [first]], 'both answers')
  },

  'a claim that does not ask for it takes any run': async (world) => {
    await enter(world)
    const { id } = await create(world, PREFERS_A)
    const claimed = await world.store.runs.claim({ jobNames: [JOB], tokens: [world.env.id()], leaseMs: LEASE_MS, workerId: B })
    deepEqual(ids(claimed), [id], 'claimed')
  },

  'what a leader has assigned to another worker is still taken by one that claims': async (world) => {
    await enter(world, B)
    const { id } = await create(world, PREFERS_A)
    equal(await assignNow(world, id, B), true, 'assigned, although it prefers another')
    deepEqual(await claimedBy(world, B), [id], 'claimed')
  },
})
