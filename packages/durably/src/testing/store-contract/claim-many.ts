// A claim of several runs does the same as that many claims one after another, except that it may find fewer.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  claim,
  claimUpTo,
  complete,
  create,
  createInTurn,
  eventTypes,
  get,
  heartbeat,
  held,
  ids,
  JOB,
  LEASE_MS,
  newRun,
  type Owner,
  unchanged,
} from './world.ts'

const request = (...tokens: string[]) => ({ jobNames: [JOB], tokens, leaseMs: LEASE_MS })

export const claimMany = chapter('claim of several runs', {
  'a claim takes one run per token, the oldest ones, oldest first': async (world) => {
    const runs = await createInTurn(world, Array(5).fill(null))
    const now = world.env.wall()
    const claimed = await world.store.runs.claim(request('t1', 't2', 't3'))
    deepEqual(ids(claimed), ids(runs.slice(0, 3)), 'claimed runs')
    deepEqual(new Set(claimed.map((run) => run.leaseOwner)), new Set(['t1', 't2', 't3']), 'tokens')
    for (const run of claimed) {
      const { status, leaseGeneration, leaseExpiresAt, leaseWrites, startedAt, version } = run
      deepEqual(
        { status, leaseGeneration, leaseExpiresAt, leaseWrites, startedAt, version },
        { status: 'running', leaseGeneration: 1, leaseExpiresAt: now + LEASE_MS, leaseWrites: 0, startedAt: now, version: 1 },
        'a claimed run',
      )
      deepEqual(await get(world, run.id), run, 'what get() reads')
      deepEqual(await eventTypes(world, run.id), ['run:trigger', 'run:start'], 'events')
    }
    equal((await world.store.runs.list({ statuses: ['pending'] })).length, 2, 'runs that wait')
  },

  'a claim takes fewer runs when there are no more': async (world) => {
    const runs = await createInTurn(world, [null, null])
    deepEqual(idsOf(await claimUpTo(5, world)), ids(runs), 'two instead of five')
    deepEqual(await claimUpTo(5, world), [], 'none instead of five')
    await create(world, { jobName: 'unknown here' })
    deepEqual(await claimUpTo(5, world), [], 'none of another job')
  },

  'a claim without a token takes nothing': async (world) => {
    const { id } = await create(world)
    deepEqual(await unchanged(world, id, () => world.store.runs.claim(request())), [], 'claimed runs')
  },

  'the oldest runs go first, whichever of several jobs they belong to': async (world) => {
    const runs = []
    for (const jobName of ['b', 'a', 'a', 'a', 'c', 'b', 'not mine', 'a', 'c', 'b']) {
      runs.push(await create(world, { jobName }))
      await world.env.advance(1)
    }
    const mine = ids(runs.filter((run) => run.jobName !== 'not mine'))
    const jobNames = ['c', 'a', 'b', 'nothing of this']
    deepEqual(idsOf(await claimUpTo(4, world, jobNames)), mine.slice(0, 4), 'the first four')
    deepEqual(idsOf(await claimUpTo(4, world, jobNames)), mine.slice(4, 8), 'the next four')
    deepEqual(idsOf(await claimUpTo(4, world, jobNames)), mine.slice(8), 'the last one')
  },

  'several runs of the same millisecond go by id': async (world) => {
    const runs = Array.from({ length: 7 }, () => newRun(world))
    await world.store.runs.create([3, 6, 0, 5, 1, 4, 2].flatMap((i) => runs[i] ?? []))
    deepEqual(idsOf(await claimUpTo(4, world)), ids(runs.slice(0, 4)), 'the first four')
    deepEqual(idsOf(await claimUpTo(4, world)), ids(runs.slice(4)), 'the others')
  },

  'of several runs only those are taken that are due': async (world) => {
    const later = await create(world)
    world.env.jump(-10_000)
    const due = [await create(world), await create(world)]
    deepEqual(idsOf(await claimUpTo(5, world)), ids(due), 'those that are due')
    await world.env.advance(10_000)
    deepEqual(idsOf(await claimUpTo(5, world)), [later.id], 'the later one')
  },

  'of several runs with one concurrency key a claim takes the oldest': async (world) => {
    const runs = await createInTurn(world, ['k', 'k', null, 'j', 'k', null, 'j'])
    const [k, , free, j, , other] = runs
    deepEqual(
      idsOf(await claimUpTo(7, world)),
      [k, free, j, other].flatMap((run) => run?.id ?? []),
      'claimed runs',
    )
    deepEqual(await claimUpTo(7, world), [], 'while the keys are held')
  },

  'of several jobs with one concurrency key a claim takes the oldest run': async (world) => {
    const first = await create(world, { jobName: 'one', concurrencyKey: 'k' })
    await world.env.advance(1)
    await create(world, { jobName: 'other', concurrencyKey: 'k' })
    deepEqual(idsOf(await claimUpTo(2, world, ['other', 'one'])), [first.id], 'claimed runs')
    deepEqual(await claimUpTo(2, world, ['other', 'one']), [], 'while the key is held')
  },

  'a key that is held is passed over by a claim of several': async (world) => {
    await held(world, { concurrencyKey: 'k' })
    const [, free, , other] = await createInTurn(world, ['k', null, 'k', 'j'])
    deepEqual(idsOf(await claimUpTo(4, world)), [free?.id, other?.id], 'claimed runs')
  },

  'a few runs that wait for one key do not make a claim smaller': async (world) => {
    const runs = await createInTurn(world, ['k', 'k', 'k', 'k', null, 'k', 'j', 'k', null])
    deepEqual(
      idsOf(await claimUpTo(3, world)),
      [0, 4, 6].flatMap((i) => runs[i]?.id ?? []),
      'claimed runs',
    )
  },

  'a backlog behind one key keeps nothing else from being claimed': async (world) => {
    const runs = await createInTurn(
      world,
      Array.from({ length: 50 }, (_, i) => (i < 40 ? 'k' : null)),
    )
    const claimed = await claimUpTo(3, world)
    equal(claimed[0]?.run.id, runs[0]?.id, 'the oldest goes first')
    for (let more = claimed; more.length > 0; more = await claimUpTo(3, world)) if (more !== claimed) claimed.push(...more)
    deepEqual(idsOf(claimed).sort(), [runs[0]?.id, ...ids(runs.slice(40))], 'the first of the key, and all without one')
  },

  'claims of several at once give each run to one worker and miss none': async (world) => {
    await world.store.runs.create(Array.from({ length: 40 }, (_, i) => newRun(world, { concurrencyKey: i % 4 ? null : `k${i % 8}` })))
    const claimed: Owner[] = []
    for (let found = 1; found > 0; ) {
      const owners = (await Promise.all(Array.from({ length: 6 }, () => claimUpTo(3, world)))).flat()
      claimed.push(...owners)
      found = owners.length
    }
    equal(new Set(idsOf(claimed)).size, claimed.length, 'each run once')
    equal(claimed.length, 32, 'the free ones, and one of each key')
  },

  'a claim of several that is sent again takes nothing more': async (world) => {
    const runs = await createInTurn(world, Array(6).fill(null))
    const first = await world.store.runs.claim(request('t1', 't2', 't3'))
    await world.env.advance(1000)
    const again = () => world.store.runs.claim(request('t1', 't2', 't3'))
    for (const { id } of runs) deepEqual(await unchanged(world, id, again), first, 'the second answer')
    equal((await world.store.runs.list({ statuses: ['pending'] })).length, 3, 'runs that wait')
  },

  'a claim that found too few takes nothing more when it is sent again': async (world) => {
    const one = await create(world)
    const first = await world.store.runs.claim(request('t1', 't2', 't3'))
    deepEqual(ids(first), [one.id], 'the first answer')
    const other = await create(world)
    deepEqual(await unchanged(world, other.id, () => world.store.runs.claim(request('t1', 't2', 't3'))), first, 'the second answer')
  },

  'a claim of several that is sent again finds those that it still holds': async (world) => {
    await createInTurn(world, Array(5).fill(null))
    const claimed = await claimUpTo(3, world)
    const [done, busy, idle] = claimed
    ok(done && busy && idle, 'three owners')
    await done.succeed(complete())
    await busy.succeed(heartbeat())
    const tokens = claimed.map((owner) => owner.claim.token)
    for (const { run } of claimed) {
      const again = await unchanged(world, run.id, () => world.store.runs.claim(request(...tokens)))
      deepEqual(again, [await get(world, busy.run.id), await get(world, idle.run.id)], 'the answer')
    }
    equal((await world.store.runs.list({ statuses: ['pending'] })).length, 2, 'runs that wait')
  },

  'one claim of several sent ten times at once takes them once': async (world) => {
    await createInTurn(world, Array(9).fill(null))
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.claim(request('t1', 't2', 't3'))))
    const running = await world.store.runs.list({ statuses: ['running'] })
    equal(running.length, 3, 'running runs')
    for (const answer of answers) deepEqual(ids(answer), ids(running).reverse(), 'an answer')
  },

  'adopt finds all the runs that a claim took, oldest first': async (world) => {
    const runs = await createInTurn(world, Array(4).fill(null))
    const claimed = await claimUpTo(3, world)
    await claim(world)
    const tokens = claimed.map((owner) => owner.claim.token)
    const adopted = await world.store.runs.adopt([...tokens.toReversed(), 'never seen'])
    deepEqual(ids(adopted), ids(runs.slice(0, 3)), 'adopted runs')
    for (const run of adopted) deepEqual(run, await get(world, run.id), 'as it is')
    deepEqual(ids(await world.store.runs.adopt(tokens.slice(1, 2))), [claimed[1]?.run.id], 'under one of the tokens')
    deepEqual(await world.store.runs.adopt([]), [], 'under no token')
  },
})

function idsOf(owners: readonly Owner[]): string[] {
  return owners.map((owner) => owner.run.id)
}
