// A run that was created with `holdKey` has its concurrency key from its first claim to its end.
import { NEVER_MS } from '../../model/wait.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import {
  abandon,
  claim,
  claimAll,
  claimUpTo,
  complete,
  create,
  fail,
  get,
  held,
  LEASE_MS,
  leasesEnd,
  mustClaim,
  newRun,
  newSignal,
  type Owner,
  park,
  release,
  retryLater,
} from './world.ts'

const HOLDS = { concurrencyKey: 'k', holdKey: true }
const NAP = { name: 'nap', kind: 'sleep', dueAt: NEVER_MS } as const
const ANSWER = { name: 'answer', kind: 'signal', dueAt: null } as const

const holderOf = async ({ store }: World, key = 'k') => (await store.runs.getHolder(key))?.id ?? null

/** Ways in which a run becomes pending again without having ended. */
const PAUSES: Record<string, (world: World, owner: Owner) => Promise<void>> = {
  park: (_, owner) => owner.succeed(park([NAP])),
  retryLater: (world, owner) => owner.succeed(retryLater(world.env.wall() + LEASE_MS)),
  release: (_, owner) => owner.succeed(release()),
  async reclaim(world) {
    await leasesEnd(world)
    const [reaped] = await world.store.runs.reap({ maxRecoveries: 3 })
    equal(reaped?.move, 'reclaim', 'what became of the run of a lost worker')
  },
}

/** Ways in which it ends. */
const ENDS: Record<string, (world: World, owner: Owner) => Promise<unknown>> = {
  complete: (_, owner) => owner.succeed(complete()),
  fail: (_, owner) => owner.succeed(fail()),
  abandon: (_, owner) => owner.succeed(abandon()),
  async 'cancel while it is parked'({ store }, owner) {
    await owner.succeed(park([NAP]))
    equal((await store.runs.cancel(owner.run.id))?.outcome, 'cancelled', 'the cancel')
  },
  async 'a lost worker too many'(world) {
    await leasesEnd(world)
    equal((await world.store.runs.reap({ maxRecoveries: 0 }))[0]?.move, 'reclaimCrashLoop', 'what became of it')
  },
}

export const heldKeys = chapter('held keys', {
  'a run says whether it was created with holdKey': async (world) => {
    equal((await create(world, HOLDS)).holdKey, true, 'as it was created')
    const { run } = await mustClaim(world)
    equal(run.holdKey, true, 'as it was claimed')
    equal((await get(world, run.id)).holdKey, true, 'as it is read')
    const other = await create(world, { concurrencyKey: 'other' })
    deepEqual([other.holdKey, (await get(world, other.id)).holdKey], [false, false], 'without it')
  },

  'a run that was not claimed yet holds nothing': async (world) => {
    await create(world, { ...HOLDS, delayMs: LEASE_MS })
    equal(await holderOf(world), null, 'the holder')
    const other = await create(world, { concurrencyKey: 'k' })
    equal((await mustClaim(world)).run.id, other.id, 'another run of the key')
  },

  ...Object.fromEntries(
    Object.entries(PAUSES).map(([name, pause]) => [
      `after ${name} it has its key, and only itself can be claimed`,
      async (world: World) => {
        const owner = await held(world, HOLDS)
        await create(world, { concurrencyKey: 'k' })
        await create(world, HOLDS)
        await pause(world, owner)
        equal((await get(world, owner.run.id)).status, 'pending', 'its status')
        equal(await holderOf(world), owner.run.id, 'the holder')
        await world.store.signals.send(newSignal(world, owner.run.id))
        await world.env.advance(LEASE_MS)
        const claimed = await claimAll(world)
        const expected = name === 'park' ? [] : [owner.run.id]
        deepEqual(
          claimed.map(({ run }) => run.id),
          expected,
          'what can be claimed',
        )
      },
    ]),
  ),

  ...Object.fromEntries(
    Object.entries(ENDS).map(([name, end]) => [
      `after ${name} the key is free`,
      async (world: World) => {
        const owner = await held(world, HOLDS)
        const next = await create(world, HOLDS)
        await end(world, owner)
        equal(await holderOf(world), null, 'the holder')
        equal((await mustClaim(world)).run.id, next.id, 'the next one')
      },
    ]),
  ),

  'it keeps its key through any number of pauses': async (world) => {
    let owner = await held(world, HOLDS)
    const next = await create(world, HOLDS)
    for (const verb of [park([{ ...NAP, dueAt: world.env.wall() + 1 }]), release(), retryLater(world.env.wall() + 1), release()]) {
      await owner.succeed(verb)
      await world.env.advance(1)
      const [again, ...others] = await claimUpTo(3, world)
      deepEqual([again?.run.id, others.length], [owner.run.id, 0], `after ${verb.type}`)
      if (again) owner = again
    }
    await owner.succeed(complete())
    equal((await mustClaim(world)).run.id, next.id, 'after its end')
  },

  'a signal wakes a run that holds its key': async (world) => {
    const owner = await held(world, HOLDS)
    await owner.succeed(park([ANSWER]))
    await create(world, { concurrencyKey: 'k' })
    equal(await claim(world), null, 'before the signal')
    await world.store.signals.send(newSignal(world, owner.run.id))
    equal((await mustClaim(world)).run.id, owner.run.id, 'after the signal')
  },

  'it hides runs of every job that have the key, and no others': async (world) => {
    const owner = await held(world, HOLDS)
    await owner.succeed(park([NAP]))
    await create(world, { jobName: 'other', concurrencyKey: 'k' })
    const free = await create(world, { jobName: 'other', concurrencyKey: 'free' })
    const plain = await create(world, { jobName: 'other' })
    const claimed = await claimUpTo(5, world, ['other'])
    deepEqual(claimed.map(({ run }) => run.id).sort(), [free.id, plain.id].sort(), 'claimed')
  },

  'many that hold the same key are executed one after the other, in their order': async (world) => {
    const runs = await world.store.runs.create(Array.from({ length: 4 }, () => newRun(world, HOLDS)))
    for (const { run } of runs) {
      const [first, ...others] = await claimUpTo(4, world)
      deepEqual([first?.run.id, others.length], [run.id, 0], 'claimed')
      await first?.succeed(release())
      const again = await mustClaim(world)
      equal(again.run.id, run.id, 'claimed again')
      await again.succeed(complete())
    }
  },

  'one that is asked to stop has its key until it has stopped': async (world) => {
    const owner = await held(world, HOLDS)
    await create(world, HOLDS)
    equal((await world.store.runs.cancel(owner.run.id))?.outcome, 'requested', 'the cancel')
    equal(await claim(world), null, 'before it has stopped')
    await owner.succeed(abandon())
    await mustClaim(world)
  },

  'one that is retried waits for the key like a new run, and holds it from its next claim': async (world) => {
    const failed = await held(world, HOLDS)
    await failed.succeed(fail())
    const other = await held(world, HOLDS)
    await other.succeed(park([NAP]))
    equal((await world.store.runs.retry(failed.run.id))?.outcome, 'retried', 'the retry')
    equal(await holderOf(world), other.run.id, 'the holder')
    equal(await claim(world), null, 'while another one holds the key')
    await world.store.runs.cancel(other.run.id)
    equal(await holderOf(world), null, 'the holder before the next claim')
    const again = await mustClaim(world)
    await again.succeed(park([NAP]))
    equal(await holderOf(world), failed.run.id, 'the holder after it')
  },

  'one that holds its key is not deleted and not purged; when it has ended and is gone, its key is free': async (world) => {
    const { runs } = world.store
    const owner = await held(world, HOLDS)
    await owner.succeed(release())
    const all = { statuses: ['completed', 'failed', 'cancelled'] as const, olderThanMs: 0, limit: 10 }
    deepEqual([(await runs.delete(owner.run.id))?.outcome, await runs.purge(all)], ['refused', 0], 'while it is pending')
    equal(await holderOf(world), owner.run.id, 'the holder')
    await (await mustClaim(world)).succeed(fail())
    equal((await runs.delete(owner.run.id))?.outcome, 'deleted', 'after its end')
    equal((await held(world, HOLDS)).run.concurrencyKey, 'k', 'the key of the next one')
  },
})
