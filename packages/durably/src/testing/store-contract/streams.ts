// Open streams: what a step emitted while it executed; the next claim resets it to its checkpoint.
import { iso } from '../../model/env.ts'
import { encodeStreams } from '../../model/stream.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { MEGABYTE, VALUES } from './hostile-texts.ts'
import { chunk, ends, open, payloadsAfter } from './streaming.ts'
import {
  claimUpTo,
  create,
  get,
  heartbeat,
  held,
  JOB,
  LEASE_MS,
  leasesEnd,
  mustClaim,
  newRun,
  type Owner,
  REFUSED,
  recorded,
  recordStep,
  release,
  send,
  unchanged,
  WORKER,
} from './world.ts'

export const streams = chapter('streams', {
  'the open streams of a run stay until they are written again': async (world) => {
    const owner = await held(world)
    equal(owner.run.streams, null, 'at first')
    await owner.succeed(heartbeat(), { streams: open(['a', 3]) })
    await owner.succeed(recordStep(owner))
    equal((await get(world, owner.run.id)).streams, open(['a', 3]), 'after a write without them')
    await owner.succeed(heartbeat(), { streams: open(['a', 3], ['b', 0]) })
    await owner.succeed(release())
    equal((await get(world, owner.run.id)).streams, open(['a', 3], ['b', 0]), 'after a release')
    equal((await mustClaim(world)).run.streams, open(['a', 3], ['b', 0]), 'what the next owner gets')
  },

  'a refused write does not change the open streams': async (world) => {
    const owner = await held(world)
    const write = { ...owner.next(heartbeat(), { streams: open(['a', 3]) }), claim: { ...owner.claim, token: 'not mine' } }
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), REFUSED, 'outcome')
  },

  'a claim logs how much of each open stream stays, after its start': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0), chunk(owner, 'b', 0)], streams: open(['a', 3], ['b', 0]) })
    await owner.succeed(release())
    const before = await get(world, owner.run.id)
    await world.env.advance(5)
    const { run } = await mustClaim(world)
    const logged = (await world.store.events.list(run.id, { after: before.lastEventSequence })).map((event) => ({
      ...event,
      payload: JSON.parse(event.payload),
    }))
    const { id: runId, lastEventSequence: last } = before
    const createdAt = iso(world.env.wall())
    deepEqual(
      logged,
      [
        { runId, seq: last + 1, type: 'run:start', payload: { generation: 2, workerId: WORKER }, createdAt },
        { runId, seq: last + 2, type: 'stream:reset', payload: { stepName: 'a', to: 3 }, createdAt },
        { runId, seq: last + 3, type: 'stream:reset', payload: { stepName: 'b', to: 0 }, createdAt },
      ],
      'events',
    )
    equal(run.lastEventSequence, last + 3, 'the counter of the claimed row')
    equal((await get(world, runId)).lastEventSequence, last + 3, 'the counter that is stored')
  },

  'a claim after a lost worker resets what that one left open': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { streams: open(['a', 7]) })
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    await mustClaim(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    await mustClaim(world)
    const reset = ['run:reclaim', 'run:start', 'stream:reset']
    deepEqual(await typesAfter(world, owner, 2), [...reset, ...reset], 'events')
  },

  'a claim without open streams resets nothing': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0)], streams: open(['a', 1]) })
    await owner.succeed(recordStep(owner, { name: 'a' }), { streams: open() })
    await owner.succeed(release())
    await mustClaim(world)
    deepEqual(await typesAfter(world, owner, 5), ['run:start'], 'events')
  },

  'a claim of several runs resets the streams of each': async (world) => {
    await world.store.runs.create(Array.from({ length: 4 }, () => newRun(world)))
    const left = [null, open(['a', 1]), open(), open(['b', 2], ['a', 4], ['c', 0])]
    const first = await claimUpTo(4, world)
    await world.store.runs.apply(first.map((owner, i) => owner.next(release(), { streams: left[i] ?? null })))
    const second = await claimUpTo(4, world)
    deepEqual(
      second.map(({ run }) => run.lastEventSequence),
      [4, 5, 4, 7],
      'counters',
    )
    const resets = await Promise.all(second.map((owner) => payloadsAfter(world, owner, 4)))
    deepEqual(
      resets,
      [
        [],
        [{ stepName: 'a', to: 1 }],
        [],
        [
          { stepName: 'b', to: 2 },
          { stepName: 'a', to: 4 },
          { stepName: 'c', to: 0 },
        ],
      ],
      'resets',
    )
  },

  'a claim with resets that is sent again logs nothing more': async (world) => {
    const owner = await held(world)
    await owner.succeed(release(), { streams: open(['a', 1], ['b', 2]) })
    await create(world)
    const request = { jobNames: [JOB], tokens: ['t'], leaseMs: LEASE_MS }
    const first = await world.store.runs.claim(request)
    deepEqual(await unchanged(world, owner.run.id, () => world.store.runs.claim(request)), first, 'the second answer')
    await world.store.runs.cancel(owner.run.id)
    await unchanged(world, owner.run.id, () => world.store.runs.claim(request))
  },

  'checkpoints and chunks come back as they were written': async (world) => {
    const owner = await held(world)
    const texts = [...Object.values(VALUES), MEGABYTE]
    const kept = encodeStreams(texts.map((state, i) => ({ stepName: `${i}`, kept: i, state })))
    const events = texts.map((chunks, i) =>
      recorded(world, 'stream:chunk', { generation: 1, stepName: `${i}`, from: 0, chunks, state: chunks }),
    )
    await owner.succeed(heartbeat(), { streams: kept, events })
    ok((await get(world, owner.run.id)).streams === kept, 'open streams')
    const stored = await payloadsAfter(world, owner, 2)
    deepEqual(
      stored,
      events.map(({ payload }) => payload),
      'chunks',
    )
    await owner.succeed(ends(recordStep(owner, { name: '0' })), { events: [chunk(owner, '0', 0)] })
    await owner.succeed(release())
    const next = await mustClaim(world)
    equal(next.run.lastEventSequence, texts.length * 2 + 6, 'the counter after a claim')
  },
})

async function typesAfter({ store }: World, { run }: Owner, after: number): Promise<string[]> {
  return (await store.events.list(run.id, { after })).map(({ type }) => type)
}
