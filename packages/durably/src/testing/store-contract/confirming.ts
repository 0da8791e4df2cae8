// An owner that was given time to come back: its run is marked when its lease is over, and nobody takes it before that time is over.
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import {
  claim,
  complete,
  create,
  eventTypes,
  get,
  heartbeat,
  held,
  LEASE_MS,
  mustClaim,
  OWNER_VERB_NAMES,
  OWNER_VERBS,
  REFUSED,
  release,
  unchanged,
} from './world.ts'

const CONFIRM_MS = 60_000

export const confirming = chapter('confirming', {
  'a run whose owner may come back is marked, once, and keeps its owner': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    const before = await get(world, owner.run.id)
    await world.env.advance(LEASE_MS + 5)
    const [marked, ...others] = await reap(world)
    deepEqual(others, [], 'others')
    equal(marked?.move, 'confirm', 'move')
    const row = await get(world, owner.run.id)
    deepEqual(marked?.run, row, 'the row handed out')
    const deadline = (before.leaseExpiresAt ?? 0) + CONFIRM_MS
    const mark = { continuationState: 'CONFIRMING' as const, continuationCheckDeadlineAt: deadline, leaseExpiresAt: deadline }
    const counted = { version: before.version + 1, lastEventSequence: before.lastEventSequence + 1, updatedAt: row.updatedAt }
    deepEqual(row, { ...before, ...mark, ...counted }, 'the row')
    equal((await eventTypes(world, row.id)).at(-1), 'run:confirm', 'event')
    deepEqual(await unchanged(world, row.id, () => reap(world)), [], 'marked again')
    equal(await claim(world), null, 'claimed by another worker')
  },

  'past the deadline it is taken back, with its recoveries counted': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await mark(world)
    await world.env.advance(CONFIRM_MS - 1)
    deepEqual(await reap(world), [], 'a millisecond before')
    await world.env.advance(1)
    const [reaped] = await reap(world)
    deepEqual([reaped?.move, reaped?.run.recoveries, reaped?.run.continuationState], ['reclaim', 1, null], 'in that millisecond')
    equal(reaped?.run.continuationCheckDeadlineAt, null, 'the deadline')
    deepEqual(await owner.write(heartbeat()), REFUSED, 'what the owner writes then')
    equal((await mustClaim(world)).run.id, owner.run.id, 'the next claim')
  },

  'a reaper that comes only when the time is over does not mark it': async (world) => {
    await held(world, {}, CONFIRM_MS)
    await world.env.advance(LEASE_MS + CONFIRM_MS)
    deepEqual(moves(await reap(world)), ['reclaim'], 'moves')
  },

  'what an owner writes that comes back is accepted, and removes the mark': async (world) => {
    for (const verb of OWNER_VERB_NAMES) {
      const owner = await held(world, { jobName: verb }, CONFIRM_MS)
      await mark(world)
      await owner.succeed(OWNER_VERBS[verb](owner))
      const { continuationState, continuationCheckDeadlineAt } = await get(world, owner.run.id)
      deepEqual([continuationState, continuationCheckDeadlineAt], [null, null], verb)
      if (verb === 'heartbeat' || verb === 'recordStep') await owner.succeed(complete())
    }
  },

  'an owner that came back may be away once more': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await mark(world)
    await owner.succeed(heartbeat())
    await mark(world)
    await owner.succeed(complete())
  },

  'the next owner has the time that it was given itself': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await owner.succeed(release())
    equal((await mustClaim(world)).run.confirmMs, null, 'time')
    await world.env.advance(LEASE_MS)
    deepEqual(moves(await reap(world)), ['reclaim'], 'moves')
  },

  'a cancel that was asked for waits for the owner, too': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await world.store.runs.cancel(owner.run.id)
    await mark(world)
    await world.env.advance(CONFIRM_MS)
    deepEqual(moves(await reap(world)), ['reclaimCancelled'], 'moves')
  },

  'an owner that is known to be gone is not waited for': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await world.env.advance(LEASE_MS)
    deepEqual(moves(await world.store.runs.reap({ maxRecoveries: 10, tokens: [owner.claim.token] })), ['reclaim'], 'moves')
  },

  'the key of a marked run stays held': async (world) => {
    await held(world, { concurrencyKey: 'key' }, CONFIRM_MS)
    await create(world, { concurrencyKey: 'key' })
    await mark(world)
    equal(await claim(world), null, 'another run of the key')
  },

  'a marked run is no lost one for a worker that looks': async (world) => {
    const owner = await held(world, {}, CONFIRM_MS)
    await mark(world)
    const { stale, nextInMs } = await world.store.runs.probe([owner.run.jobName])
    deepEqual({ stale, nextInMs }, { stale: false, nextInMs: CONFIRM_MS }, 'probe')
    deepEqual(await world.store.runs.count(), [{ phase: 'confirming', isRetried: false, count: 1 }], 'counts')
    deepEqual((await world.store.runs.list({ phases: ['confirming'] })).length, 1, 'in a list of its phase')
    deepEqual(await world.store.runs.list({ phases: ['running', 'stale', 'cancelling'] }), [], 'in lists of others')
  },
})

function reap({ store }: World) {
  return store.runs.reap({ maxRecoveries: 10 })
}

function moves(reaped: Awaited<ReturnType<typeof reap>>): string[] {
  return reaped.map(({ move }) => move)
}

/** Exactly when the lease is over. */
async function mark(world: World): Promise<void> {
  await world.env.advance(LEASE_MS)
  deepEqual(moves(await reap(world)), ['confirm'], 'moves')
}
