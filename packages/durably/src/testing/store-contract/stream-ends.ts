// The record of a stream's step replaces the chunks that were logged before with one chunk that holds the whole stream.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { TEXTS } from './hostile-texts.ts'
import { chunk, ends, open, payloadsAfter } from './streaming.ts'
import {
  ACCEPTED,
  claimUpTo,
  complete,
  everything,
  get,
  heartbeat,
  held,
  leasesEnd,
  logLine,
  mustClaim,
  newRun,
  type Owner,
  REFUSED,
  recorded,
  recordFailedStep,
  recordStep,
  release,
  send,
  unchanged,
} from './world.ts'

export const streamEnds = chapter('steps of streams', {
  'the step of a stream replaces the chunks of the stream, and nothing else': async (world) => {
    const [one, other] = await twoOwners(world)
    for (const owner of [one, other]) {
      const started = recorded(world, 'step:start', { generation: 1, stepName: 'a', stepIndex: 0 })
      await owner.succeed(heartbeat(), { events: [started, chunk(owner, 'a', 0), chunk(owner, 'b', 0), chunk(owner, 'a', 5)] })
      await owner.succeed(heartbeat(), { events: [recorded(world, 'stream:reset', { stepName: 'a', to: 5 }), chunk(owner, 'a', 5)] })
    }
    await one.succeed(ends(recordStep(one, { name: 'a' })), { events: [chunk(one, 'b', 5), chunk(one, 'a', 0)] })
    const kept = [
      '1 run:trigger',
      '2 run:start',
      '3 step:start',
      '5 stream:chunk b',
      '9 stream:chunk b',
      '10 stream:chunk a',
      '11 step:complete',
    ]
    deepEqual(await logged(world, one), kept, 'events of the run')
    equal((await get(world, one.run.id)).lastEventSequence, 11, 'its counter')
    equal((await logged(world, other)).length, 8, 'events of the other run')
    deepEqual(await one.write(complete()), ACCEPTED, 'the end')
  },

  'a step that was no stream deletes nothing': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0)] })
    await owner.succeed(recordStep(owner, { name: 'a' }))
    deepEqual(await logged(world, owner), ['1 run:trigger', '2 run:start', '3 stream:chunk a', '4 step:complete'], 'events')
  },

  'a stream without chunks before its step has nothing to delete': async (world) => {
    const owner = await held(world)
    const logs = [logLine(world, owner.run.id, { stepName: 'a' })]
    await owner.succeed(ends(recordStep(owner, { name: 'a' })), { events: [chunk(owner, 'a', 0)], logs })
    deepEqual(await logged(world, owner), ['1 run:trigger', '2 run:start', '3 stream:chunk a', '4 step:complete'], 'events')
    deepEqual(await world.store.logs.list(owner.run.id), logs, 'lines')
  },

  'a refused step deletes nothing of its stream': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner, { name: 'a' }))
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0), chunk(owner, 'a', 5)] })
    const again = owner.next(ends(recordStep(owner, { name: 'a', index: 1 })), { events: [chunk(owner, 'a', 0)] })
    deepEqual(await unchanged(world, owner.run.id, () => send(world, again)), REFUSED, 'a step that is completed already')
    const step = owner.next(ends(recordStep(owner, { name: 'b', index: 1 })), { events: [chunk(owner, 'b', 0)] })
    const stranger = { ...step, claim: { ...owner.claim, token: 'not mine' } }
    deepEqual(await unchanged(world, owner.run.id, () => send(world, stranger)), REFUSED, 'a step of somebody else')
  },

  'the step of a stream that is sent again deletes nothing more': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0), chunk(owner, 'a', 5)] })
    const write = owner.next(ends(recordStep(owner, { name: 'a' })), { events: [chunk(owner, 'a', 0)] })
    deepEqual(await send(world, write), ACCEPTED, 'the first time')
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'the second time')
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'after the run was taken back')
    await world.store.runs.cancel(owner.run.id)
    equal((await unchanged(world, owner.run.id, () => send(world, write))).ok, true, 'after it was cancelled')
    deepEqual((await logged(world, owner)).slice(2, 4), ['5 stream:chunk a', '6 step:complete'], 'the stream as a whole')
  },

  'the failed step of a stream that is sent again leaves the next attempt alone': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0)] })
    const write = owner.next(ends(recordFailedStep(owner, { name: 'a' })), { events: [chunk(owner, 'a', 0)] })
    await send(world, write)
    await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0), chunk(owner, 'a', 5)] })
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'outcome')
    deepEqual(
      (await logged(world, owner)).slice(2).map((line) => line.split(' ')[0]),
      ['4', '5', '6', '7'],
      'events',
    )
  },

  'steps of streams of several runs replace each their own': async (world) => {
    const owners = await twoOwners(world)
    for (const owner of owners) await owner.succeed(heartbeat(), { events: [chunk(owner, 'a', 0), chunk(owner, 'b', 0)] })
    const names = ['a', 'b']
    const writes = owners.map((owner, i) =>
      owner.next(ends(recordStep(owner, { name: names[i] ?? '' })), { events: [chunk(owner, names[i] ?? '', 0)] }),
    )
    deepEqual(await world.store.runs.apply(writes), [ACCEPTED, ACCEPTED], 'outcomes')
    const kept = await Promise.all(owners.map(async (owner) => (await logged(world, owner)).slice(2)))
    deepEqual(
      kept,
      [
        ['4 stream:chunk b', '5 stream:chunk a', '6 step:complete'],
        ['3 stream:chunk a', '5 stream:chunk b', '6 step:complete'],
      ],
      'events',
    )
    const before = await Promise.all(owners.map((owner) => everything(world, owner.run.id)))
    await world.store.runs.apply(writes)
    deepEqual(await Promise.all(owners.map((owner) => everything(world, owner.run.id))), before, 'sent again')
  },

  'any text is the name of a stream': async (world) => {
    const owner = await held(world)
    const names = Object.values(TEXTS)
    await owner.succeed(heartbeat(), {
      events: [recorded(world, 'step:start', { stepName: 'a\0b \ud800' }), ...names.map((name) => chunk(owner, name, 0))],
      streams: open(...names.map((name, i): [string, number] => [name, i])),
    })
    for (const [i, name] of names.entries()) {
      await owner.succeed(ends(recordStep(owner, { name, index: i })), { events: [chunk(owner, name, 0)] })
      const chunks = await chunkNames(world, owner)
      deepEqual(chunks, [...names.slice(i + 1), ...names.slice(0, i + 1)], `streams after ${JSON.stringify(name)}`)
    }
    await owner.succeed(release())
    const next = await mustClaim(world)
    deepEqual(
      await payloadsAfter(world, next, next.run.lastEventSequence - names.length),
      names.map((stepName, to) => ({ stepName, to })),
      'resets',
    )
  },
})

async function twoOwners(world: World): Promise<[Owner, Owner]> {
  await world.store.runs.create([newRun(world), newRun(world)])
  const [one, other] = await claimUpTo(2, world)
  ok(one && other, 'two owners')
  return [one, other]
}

async function logged({ store }: World, { run }: Owner): Promise<string[]> {
  return (await store.events.list(run.id)).map(({ seq, type, payload }) =>
    [seq, type, ...(type.startsWith('stream') ? [JSON.parse(payload).stepName] : [])].join(' '),
  )
}

async function chunkNames({ store }: World, { run }: Owner): Promise<unknown[]> {
  const chunks = (await store.events.list(run.id)).filter(({ type }) => type === 'stream:chunk')
  return chunks.map(({ payload }) => JSON.parse(payload).stepName)
}
