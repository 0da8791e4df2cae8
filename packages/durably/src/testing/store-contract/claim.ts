import type { RunRow } from '../../model/run.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import {
  abandon,
  claim,
  claimAll,
  complete,
  create,
  createInTurn,
  eventTypes,
  fail,
  get,
  heartbeat,
  held,
  ids,
  JOB,
  LEASE_MS,
  leasesEnd,
  mustClaim,
  newRun,
  type Owner,
  recordStep,
  release,
  WORKER,
} from './world.ts'

export const claimChapter = chapter('claim', {
  'a claim moves a pending run to running under the token': async (world) => {
    const before = await create(world)
    await world.env.advance(5)
    const now = world.env.wall()
    const [run] = await world.store.runs.claim({ jobNames: [JOB], tokens: ['token-1'], leaseMs: LEASE_MS })
    ok(run, 'a run')
    const { heartbeatAt, updatedAt, ...row } = run
    const { heartbeatAt: _, updatedAt: __, ...was } = before
    deepEqual(
      row,
      {
        ...was,
        status: 'running',
        version: was.version + 1,
        leaseGeneration: 1,
        leaseOwner: 'token-1',
        leaseExpiresAt: now + LEASE_MS,
        leaseWrites: 0,
        startedAt: now,
        lastEventSequence: 2,
      },
      'the claimed row',
    )
    ok(heartbeatAt > before.heartbeatAt, 'a claim is a sign of life')
    deepEqual(await get(world, run.id), run, 'what get() reads')
  },

  'a claim writes run:start with its generation and its worker': async (world) => {
    const owner = await held(world)
    const [, start] = await world.store.events.list(owner.run.id)
    equal(start?.type, 'run:start', 'type')
    deepEqual(JSON.parse(start?.payload ?? ''), { generation: 1, workerId: WORKER }, 'payload')
    equal((await get(world, owner.run.id)).workerId, WORKER, 'the worker in the row')
  },

  'there is nothing to claim in an empty store, nor for no job': async (world) => {
    equal(await claim(world), null, 'from an empty store')
    await create(world)
    equal(await claim(world, []), null, 'for no job')
  },

  'only registered jobs are claimed; the others wait': async (world) => {
    const waiting = await create(world, { jobName: 'unknown here' })
    const known = await create(world)
    equal((await mustClaim(world)).run.id, known.id, 'the claimed run')
    equal(await claim(world), null, 'the next claim')
    equal((await get(world, waiting.id)).status, 'pending', 'the other job')
  },

  'job names are compared exactly': async (world) => {
    await create(world, { jobName: 'Import' })
    for (const name of ['import', 'IMPORT', 'Import ', 'Impor_', 'Impor%']) equal(await claim(world, [name]), null, name)
    ok(await claim(world, ['Import']), 'its own name')
  },

  'the oldest run goes first, whichever job it belongs to': async (world) => {
    const order: RunRow[] = []
    for (const jobName of ['b', 'a', 'b', 'c', 'a']) {
      order.push(await create(world, { jobName }))
      await world.env.advance(1)
    }
    deepEqual(await claimedIds(world, ['a', 'b', 'c']), ids(order), 'claims')
  },

  'runs of the same millisecond go by id': async (world) => {
    const runs = Array.from({ length: 6 }, (_, i) => newRun(world, { jobName: i % 2 ? 'a' : 'b' }))
    const shuffled = [3, 0, 5, 1, 4, 2].flatMap((i) => runs[i] ?? [])
    await world.store.runs.create(shuffled)
    deepEqual(await claimedIds(world, ['a', 'b']), ids(runs), 'claims')
  },

  'the order is that of the store clock, not of the ids': async (world) => {
    const later = newRun(world)
    const sooner = await create(world)
    await world.env.advance(1)
    await world.store.runs.create([later])
    deepEqual(await claimedIds(world, [JOB]), [sooner.id, later.id], 'claims')
  },

  'a run is not claimed before it is due': async (world) => {
    await create(world)
    world.env.jump(-10_000)
    equal(await claim(world), null, 'before its time')
    await world.env.advance(9_000)
    equal(await claim(world), null, 'still before')
    await world.env.advance(2_000)
    ok(await claim(world), 'when it is due')
  },

  'a run is due in the very millisecond of runAt': async (world) => {
    await create(world)
    world.env.jump(-1)
    equal(await claim(world), null, 'a millisecond before')
    world.env.jump(1)
    ok(await claim(world), 'in that millisecond')
  },

  'a run that waits for its time does not hold up another job': async (world) => {
    await create(world, { jobName: 'later' })
    world.env.jump(-10_000)
    const due = await create(world)
    equal((await mustClaim(world, ['later', JOB])).run.id, due.id, 'the claimed run')
  },

  'ten concurrent claims of one run give one winner': async (world) => {
    const { id } = await create(world)
    const owners = await Promise.all(Array.from({ length: 10 }, () => claim(world)))
    equal(owners.filter((owner) => owner !== null).length, 1, 'winners')
    equal((await get(world, id)).leaseGeneration, 1, 'generation')
    deepEqual(await eventTypes(world, id), ['run:trigger', 'run:start'], 'events')
  },

  'concurrent claims of many runs give each to one worker': async (world) => {
    await world.store.runs.create(Array.from({ length: 8 }, () => newRun(world)))
    const owners = await Promise.all(Array.from({ length: 10 }, () => claim(world)))
    const claimed = owners.flatMap((owner) => owner?.run.id ?? [])
    equal(claimed.length, 8, 'claims')
    equal(new Set(claimed).size, 8, 'different runs')
  },

  'a held concurrency key is passed over, and the next free run is taken': async (world) => {
    const [first, blocked, free] = await createInTurn(world, ['k', 'k', null])
    equal((await mustClaim(world)).run.id, first?.id, 'first')
    equal((await mustClaim(world)).run.id, free?.id, 'the free one')
    equal(await claim(world), null, 'the blocked one')
    equal((await get(world, blocked?.id ?? '')).status, 'pending', 'its status')
  },

  'a concurrency key is held across jobs': async (world) => {
    await held(world, { jobName: 'one', concurrencyKey: 'k' })
    await create(world, { jobName: 'other', concurrencyKey: 'k' })
    equal(await claim(world, ['one', 'other']), null, 'a claim')
  },

  'different concurrency keys do not wait for each other': async (world) => {
    await createInTurn(world, ['k', 'K', 'k '])
    for (let i = 0; i < 3; i++) ok(await claim(world), `claim ${i}`)
  },

  'many runs of one key run one after another, oldest first': async (world) => {
    const runs = await createInTurn(
      world,
      Array.from({ length: 6 }, (_, i) => (i === 3 ? 'other' : 'k')),
    )
    const first = await mustClaim(world)
    const other = await mustClaim(world)
    equal(other.run.id, runs[3]?.id, 'the other key')
    const order = [first.run.id]
    for (let owner = first; order.length < 5; order.push(owner.run.id)) {
      equal(await claim(world), null, 'while the key is held')
      await owner.succeed(complete())
      owner = await mustClaim(world)
    }
    deepEqual(order, ids(runs.filter((run) => run.concurrencyKey === 'k')), 'claims')
  },

  'a key is free again after every way a lease can end': async (world) => {
    const ends: ((owner: Owner) => Promise<unknown>)[] = [
      (owner) => owner.succeed(complete()),
      (owner) => owner.succeed(fail()),
      (owner) => owner.succeed(abandon()),
      (owner) => owner.succeed(release()).then(() => world.store.runs.cancel(owner.run.id)),
      (owner) =>
        leasesEnd(world)
          .then(() => world.store.runs.reap({ maxRecoveries: 0 }))
          .then(() => world.store.runs.get(owner.run.id)),
    ]
    for (const end of ends) {
      const owner = await held(world, { concurrencyKey: 'k' })
      const next = await create(world, { concurrencyKey: 'k' })
      equal(await claim(world), null, 'while the key is held')
      await end(owner)
      equal((await mustClaim(world)).run.id, next.id, 'once it is free')
      await world.store.runs.cancel(next.id)
      await leasesEnd(world)
      await world.store.runs.reap({ maxRecoveries: 0 })
    }
  },

  'a cancelled run does not hold up those behind it': async (world) => {
    const runs = await createInTurn(world, ['k', 'k', 'k', 'k'])
    const owner = await mustClaim(world)
    equal(await claim(world), null, 'while the key is held')
    await world.store.runs.cancel(runs[1]?.id ?? '')
    await owner.succeed(complete())
    await world.store.runs.cancel(runs[2]?.id ?? '')
    equal((await mustClaim(world)).run.id, runs[3]?.id, 'the next claim')
  },

  'a lease that is over still holds its key until it is taken back': async (world) => {
    await held(world, { concurrencyKey: 'k' })
    await create(world, { concurrencyKey: 'k' })
    await leasesEnd(world)
    equal(await claim(world), null, 'a claim')
  },

  'with one concurrency key at most one run is ever running': async (world) => {
    const names = ['a', 'b']
    await world.store.runs.create(Array.from({ length: 12 }, (_, i) => newRun(world, { jobName: names[i % 2] ?? '', concurrencyKey: 'k' })))
    for (let done = 0; done < 12; done++) {
      const owners = (await Promise.all(Array.from({ length: 5 }, () => claim(world, names)))).flatMap((owner) => owner ?? [])
      equal(owners.length, 1, `owners at once, after ${done} runs`)
      await Promise.all(owners.map((owner) => owner.succeed(complete())))
    }
    equal((await world.store.runs.list({ statuses: ['completed'] })).length, 12, 'completed runs')
  },

  'a claim again keeps what the run had: its start, steps and progress': async (world) => {
    const first = await held(world)
    await first.succeed(recordStep(first), { progress: '{"current":3}' })
    await first.succeed(heartbeat())
    await first.succeed(release())
    await world.env.advance(1000)
    const { run } = await mustClaim(world)
    equal(run.startedAt, first.run.startedAt, 'the first start')
    equal(run.leaseGeneration, 2, 'generation')
    equal(run.leaseWrites, 0, 'writes of the new lease')
    equal(run.currentStepIndex, 1, 'completed steps')
    equal(run.progress, '{"current":3}', 'progress')
    equal((await world.store.steps.list(run.id)).length, 1, 'steps')
  },
})

async function claimedIds(world: World, jobNames: string[]): Promise<string[]> {
  return ids((await claimAll(world, jobNames)).map((owner) => owner.run))
}
