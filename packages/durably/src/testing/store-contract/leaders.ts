// The election: one process leads at a time, and each change of the leader has a higher epoch.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { candidate, clusterOf, LEAD_MS } from './cluster-world.ts'

export const leadersChapter = chapter('leaders', {
  'nobody leads a new store, and the first that asks does': async (world) => {
    const cluster = clusterOf(world)
    equal(await cluster.leader(), null, 'before')
    deepEqual(await cluster.lead(candidate('a')), { epoch: 1, expiresInMs: LEAD_MS }, 'the answer')
    const electedAt = world.env.wall()
    deepEqual(
      await cluster.leader(),
      { epoch: 1, workerId: 'worker a', electedAt, expiresAt: electedAt + LEAD_MS, expiresInMs: LEAD_MS },
      'the leader',
    )
  },

  'while a leader leads, others are told when to ask again': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    await world.env.advance(4000)
    deepEqual(await cluster.lead(candidate('b')), { epoch: null, expiresInMs: LEAD_MS - 4000 }, 'the answer')
    equal((await cluster.leader())?.workerId, 'worker a', 'the leader')
  },

  'a leader renews its lease and keeps its epoch, also after its lease': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    const electedAt = world.env.wall()
    await world.env.advance(LEAD_MS - 1)
    deepEqual(await cluster.lead(candidate('a')), { epoch: 1, expiresInMs: LEAD_MS }, 'in time')
    await world.env.advance(LEAD_MS * 3)
    deepEqual(await cluster.lead(candidate('a')), { epoch: 1, expiresInMs: LEAD_MS }, 'late, but nobody else came')
    equal((await cluster.leader())?.electedAt, electedAt, 'the time of the election')
  },

  'when a lease is over another one leads, with a higher epoch': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    await world.env.advance(LEAD_MS - 1)
    equal((await cluster.lead(candidate('b'))).epoch, null, 'a millisecond before')
    await world.env.advance(1)
    deepEqual(await cluster.lead(candidate('b')), { epoch: 2, expiresInMs: LEAD_MS }, 'when it is over')
    equal((await cluster.lead(candidate('a'))).epoch, null, 'the one before')
    await world.env.advance(LEAD_MS)
    equal((await cluster.lead(candidate('a'))).epoch, 3, 'the one before, when it leads again')
  },

  'two processes of one name are two candidates': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    equal((await cluster.lead({ ...candidate('b'), workerId: 'worker a' })).epoch, null, 'the second one')
  },

  'one who resigns is followed at once': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    await cluster.resign(1)
    ok(((await cluster.leader())?.expiresInMs ?? 1) <= 0, 'its lease is over')
    deepEqual(await cluster.lead(candidate('b')), { epoch: 2, expiresInMs: LEAD_MS }, 'the next one')
  },

  'one who no longer leads resigns without effect': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    await world.env.advance(LEAD_MS)
    await cluster.lead(candidate('b'))
    await cluster.resign(1)
    equal((await cluster.leader())?.expiresInMs, LEAD_MS, 'the lease of the other one')
  },

  'a leader whose lease ends more than two leases ahead is replaced: the clock was set back (E3)': async (world) => {
    const cluster = clusterOf(world)
    await cluster.lead(candidate('a'))
    world.env.jump(-LEAD_MS)
    deepEqual(await cluster.lead(candidate('b')), { epoch: null, expiresInMs: 2 * LEAD_MS }, 'two leases ahead')
    world.env.jump(-1)
    equal((await cluster.lead(candidate('b'))).epoch, 2, 'the epoch of the next one')
  },

  'of many that ask at once, one leads': async (world) => {
    const cluster = clusterOf(world)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => cluster.lead(candidate(`${i}`))))
    deepEqual(
      answers.flatMap(({ epoch }) => epoch ?? []),
      [1],
      'the epochs',
    )
  },
})
