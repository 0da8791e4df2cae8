// How many runs are in each phase, by the same rule that names the phase of one.
import { PHASES, phase } from '../../model/phase.ts'
import { isTerminal } from '../../model/run.ts'
import { NEVER_MS, type Wait } from '../../model/wait.ts'
import type { RunCount } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { assignNow, clusterOf, elect, workerEntry } from './cluster-world.ts'
import { abandon, complete, create, fail, held, LEASE_MS, leasesEnd, park, retryLater } from './world.ts'

/** At least one run in each phase, with and without failed attempts where both can be. */
async function inEveryPhase(world: World): Promise<void> {
  const { store, env } = world
  await held(world, { jobName: 'confirming' }, 10 * LEASE_MS)
  await leasesEnd(world)
  await store.runs.reap({ maxRecoveries: 10 })
  const lost = await held(world, { jobName: 'stale' })
  const alsoLost = await held(world, { jobName: 'stale, cancelled' })
  await store.runs.cancel(alsoLost.run.id)
  await leasesEnd(world)
  for (const end of [complete(), fail(), abandon()]) await (await held(world, { jobName: end.type })).succeed(end)
  await held(world, { jobName: 'running' })
  await store.runs.cancel((await held(world, { jobName: 'cancelling' })).run.id)
  await create(world, { jobName: 'pending' })
  await inRound(world)
  await create(world, { jobName: 'sleeping', delayMs: 1 })
  await (await held(world, { jobName: 'retried' })).succeed(retryLater(env.wall()))
  await (await held(world, { jobName: 'retried later' })).succeed(retryLater(env.wall() + 1))
  const kinds: Wait['kind'][][] = [['sleep'], ['signal'], ['child'], ['retry', 'signal'], ['sleep', 'retry']]
  for (const dueAt of [env.wall(), env.wall() + 1, NEVER_MS]) {
    for (const some of kinds) {
      const name = '{"kind":"signal"} "kind":"child" %'
      const owner = await held(world, { jobName: `parked for ${some} until ${dueAt}` })
      await owner.succeed(park(some.map((kind) => ({ name, kind, dueAt }))))
    }
  }
  equal((await store.runs.get(lost.run.id))?.status, 'running', 'a lost run that nobody has taken back')
}

/** One that is assigned to a worker, and one whose worker is gone. */
async function inRound(world: World): Promise<void> {
  const gone = workerEntry({ id: 'gone' })
  await clusterOf(world).attend(gone)
  await assignNow(world, (await create(world, { jobName: 'orphaned' })).id, 'gone')
  await clusterOf(world).leave(gone)
  await clusterOf(world).orphan({ epoch: await elect(world), reassignAfterMs: 0 })
  await clusterOf(world).attend(workerEntry())
  await assignNow(world, (await create(world, { jobName: 'assigned' })).id)
}

function sorted(counts: readonly RunCount[]): RunCount[] {
  return counts.toSorted((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase) || Number(a.isRetried) - Number(b.isRetried))
}

async function counted({ store, env }: World, jobNames?: readonly string[]): Promise<RunCount[]> {
  const counts = new Map<string, RunCount>()
  for (const row of await store.runs.list({})) {
    if (jobNames && !jobNames.includes(row.jobName)) continue
    const one = { phase: phase(row, env.wall()), isRetried: row.attempts > 0 && !isTerminal(row.status), count: 1 }
    const key = JSON.stringify([one.phase, one.isRetried])
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return sorted([...counts.values()])
}

export const counts = chapter('counts', {
  'an empty store has nothing to count': async ({ store }) => {
    deepEqual(await store.runs.count(), [], 'of all jobs')
    deepEqual(await store.runs.count(['a']), [], 'of one')
    deepEqual(await store.runs.count([]), [], 'of none')
  },

  'the counts are those of the phases, one by one': async (world) => {
    await inEveryPhase(world)
    const actual = sorted(await world.store.runs.count())
    deepEqual([...new Set(actual.map(({ phase }) => phase))], [...PHASES], 'every phase is there')
    deepEqual(actual, await counted(world), 'now')
    await world.env.advance(1)
    deepEqual(sorted(await world.store.runs.count()), await counted(world), 'when some have fallen due')
    await leasesEnd(world)
    deepEqual(sorted(await world.store.runs.count()), await counted(world), 'when every lease is over')
  },

  'the counts of some jobs leave the others out': async (world) => {
    await inEveryPhase(world)
    const jobNames = ['pending', 'retried', 'retried later', 'stale', 'nobody knows']
    deepEqual(sorted(await world.store.runs.count(jobNames)), await counted(world, jobNames), 'counts')
    deepEqual(await world.store.runs.count([]), [], 'of none')
  },

  'a manual retry is no retried run': async (world) => {
    const owner = await held(world)
    await owner.succeed(fail())
    deepEqual(await world.store.runs.count(), [{ phase: 'failed', isRetried: false, count: 1 }], 'failed')
    await world.store.runs.retry(owner.run.id)
    deepEqual(await world.store.runs.count(), [{ phase: 'pending', isRetried: false, count: 1 }], 'sent back')
  },
})
