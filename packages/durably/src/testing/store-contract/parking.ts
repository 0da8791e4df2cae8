// A parked run holds no slot: it goes on when the first thing that it waits for is due, or at once when it need not wait.
import { encodeWaits, NEVER_MS } from '../../model/wait.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  ACCEPTED,
  claim,
  complete,
  create,
  eventTypes,
  get,
  held,
  JOB,
  leasesEnd,
  mustClaim,
  newSignal,
  park,
  release,
  send,
} from './world.ts'

const NAP_MS = 60_000

export const parking = chapter('parking', {
  'park gives the run back until it is due, and says what it waits for': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    const runAt = world.env.wall() + NAP_MS
    const wait = { name: 'nap', kind: 'sleep', dueAt: runAt } as const
    deepEqual(await owner.write(park([wait])), ACCEPTED, 'outcome')
    const row = await get(world, owner.run.id)
    const given = { status: 'pending' as const, leaseOwner: null, leaseExpiresAt: null, runAt, waitingFor: encodeWaits([wait]) }
    const counted = { version: owner.run.version + 1, leaseWrites: 1, lastEventSequence: owner.run.lastEventSequence + 1 }
    deepEqual(row, { ...owner.run, ...given, ...counted, updatedAt: row.updatedAt }, 'the row')
    const event = (await world.store.events.list(row.id)).at(-1)
    const payload = { generation: 1, runAt: new Date(runAt).toISOString() }
    deepEqual([event?.type, JSON.parse(event?.payload ?? '{}')], ['run:wait', payload], 'the event')
  },

  'a parked run is claimed when it is due, not before, and is no failed attempt': async (world) => {
    const owner = await held(world)
    await owner.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() + NAP_MS }]))
    await world.env.advance(NAP_MS - 1)
    equal(await claim(world), null, 'a millisecond before')
    await world.env.advance(1)
    const { run } = await mustClaim(world)
    deepEqual([run.leaseGeneration, run.attempts, run.recoveries], [2, 0, 0], 'generation, attempts, recoveries')
  },

  'a parked run lets go of its concurrency key': async (world) => {
    const owner = await held(world, { concurrencyKey: 'k' })
    const other = await create(world, { concurrencyKey: 'k' })
    await owner.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: NEVER_MS }]))
    equal((await mustClaim(world)).run.id, other.id, 'the one that waited for the key')
  },

  'a run that waits for ever is no work for probe': async (world) => {
    const owner = await held(world)
    await owner.succeed(park([{ name: 'answer', kind: 'signal', dueAt: null }]))
    equal((await get(world, owner.run.id)).runAt, NEVER_MS, 'due')
    const { due, stale, nextInMs } = await world.store.runs.probe([JOB])
    deepEqual([due, stale, nextInMs], [false, false, NEVER_MS - world.env.wall()], 'probe')
  },

  'a parked run is not taken back when its old lease would have ended': async (world) => {
    const owner = await held(world)
    await owner.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: NEVER_MS }]))
    await leasesEnd(world)
    deepEqual(await world.store.runs.reap({ maxRecoveries: 0 }), [], 'reaped')
  },

  'park sent again is ok and changes nothing': async (world) => {
    const owner = await held(world)
    const write = owner.next(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() + NAP_MS }]))
    await send(world, write)
    const before = await get(world, owner.run.id)
    deepEqual(await send(world, write), ACCEPTED, 'outcome')
    deepEqual(await get(world, owner.run.id), before, 'the row')
  },

  'a cancel that came before park makes the run claimable at once': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    await world.store.runs.cancel(owner.run.id)
    const outcome = await owner.write(park([{ name: 'nap', kind: 'sleep', dueAt: NEVER_MS }]))
    deepEqual(outcome, { ok: true, cancelRequested: true }, 'outcome')
    const { run } = await mustClaim(world)
    deepEqual([run.runAt, run.cancelRequestedAt], [owner.run.runAt, world.env.wall()], 'due time and request')
  },

  'a cancel that comes after park ends the run without a worker': async (world) => {
    const owner = await held(world)
    await owner.succeed(park([{ name: 'answer', kind: 'signal', dueAt: null }]))
    equal((await world.store.runs.cancel(owner.run.id))?.outcome, 'cancelled', 'outcome')
    deepEqual(await eventTypes(world, owner.run.id), ['run:trigger', 'run:start', 'run:wait', 'run:cancel'], 'events')
  },

  'whichever comes first of a cancel and park, the run does not wait any more': async (world) => {
    for (let i = 0; i < 5; i++) {
      const owner = await held(world)
      const nap = owner.next(park([{ name: 'nap', kind: 'sleep', dueAt: NEVER_MS }]))
      await Promise.all([world.store.runs.cancel(owner.run.id), send(world, nap)])
      const row = await get(world, owner.run.id)
      if (row.status === 'cancelled') continue
      equal(row.runAt <= world.env.wall() && row.cancelRequestedAt !== null, true, 'due, and asked to stop')
      await (await mustClaim(world)).succeed({ type: 'abandon' })
    }
  },

  'park by someone who has not seen every signal goes on at once': async (world) => {
    const owner = await held(world)
    equal(await world.store.signals.send(newSignal(world, owner.run.id)), 'accepted', 'the signal')
    await owner.succeed(park([{ name: 'answer', kind: 'signal', dueAt: null }], 0))
    const next = await mustClaim(world)
    deepEqual([next.run.id, next.run.signals], [owner.run.id, 1], 'the run, and how many signals it has')
    await next.succeed(park([{ name: 'answer', kind: 'signal', dueAt: null }], 1))
    equal(await claim(world), null, 'by someone who has seen it')
  },

  'a release after a park leaves the run due': async (world) => {
    const owner = await held(world)
    await owner.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() + NAP_MS }]))
    await world.env.advance(NAP_MS)
    await (await mustClaim(world)).succeed(release())
    await (await mustClaim(world)).succeed(complete())
  },
})
