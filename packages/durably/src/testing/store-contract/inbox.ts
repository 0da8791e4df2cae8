// Events: stored once per dedupe key, turned into runs once, whoever else believes to lead.
import { iso } from '../../model/env.ts'
import type { Delivery, NewEvent } from '../../store/cluster/inbox.ts'
import { DEFAULT_SETTINGS } from '../../store/cluster/settings.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { clusterOf, elect, LEAD_MS } from './cluster-world.ts'
import { complete, eventTypes, get, JOB, mustClaim } from './world.ts'

const OTHER = 'other'
const DEDUPE_MS = DEFAULT_SETTINGS.dedupeForMs

async function send(world: World, event: Partial<NewEvent> = {}): Promise<string> {
  const given = { id: world.env.id(), name: 'user.created', data: '{"id":"u1"}', dedupeKey: null, ...event }
  return (await clusterOf(world).putEvent(given)).id
}

function deliveryOf({ env }: World, epoch: number, eventId: string, jobNames = [JOB]): Delivery {
  const runs = jobNames.map((jobName) => ({ id: env.id(), jobName, idempotencyKey: `event:${eventId}`, createdAt: iso(env.wall()) }))
  return { epoch, eventId, runs }
}

async function names(world: World): Promise<string[]> {
  return (await clusterOf(world).findEvents({ limit: 10 })).map(({ name }) => name)
}

async function refused(world: World, delivery: Delivery, outcome: 'deposed' | 'changed'): Promise<void> {
  const before = await names(world)
  const runsBefore = (await world.store.runs.list({})).length
  deepEqual(await clusterOf(world).deliverEvent(delivery), { outcome }, 'the answer')
  equal((await world.store.runs.list({})).length, runsBefore, 'the number of runs')
  deepEqual(await names(world), before, 'the events')
}

export const inboxChapter = chapter('the inbox', {
  'events are found until they are delivered, the oldest first': async (world) => {
    equal((await world.store.runs.probe([])).hasEvents, undefined, 'without events')
    const first = await send(world, { name: 'a' })
    await world.env.advance(1)
    await send(world, { name: 'b', data: null })
    equal((await world.store.runs.probe([])).hasEvents, true, 'with events')
    deepEqual(await clusterOf(world).findEvents({ limit: 1 }), [{ id: first, name: 'a', data: '{"id":"u1"}' }], 'the first')
    deepEqual(await names(world), ['a', 'b'], 'all')
    const epoch = await elect(world)
    await clusterOf(world).deliverEvent(deliveryOf(world, epoch, first))
    deepEqual(await names(world), ['b'], 'the rest')
    await clusterOf(world).deliverEvent(deliveryOf(world, epoch, (await clusterOf(world).findEvents({ limit: 1 }))[0]?.id ?? ''))
    equal((await world.store.runs.probe([])).hasEvents, undefined, 'when all are delivered')
  },

  'an event becomes a run of each job, with its data as the unchecked input': async (world) => {
    const epoch = await elect(world)
    const eventId = await send(world)
    const delivery = deliveryOf(world, epoch, eventId, [JOB, OTHER])
    const answer = await clusterOf(world).deliverEvent(delivery)
    ok(answer.outcome === 'delivered', 'it was delivered')
    deepEqual(
      answer.runs.map(({ jobName }) => jobName),
      [JOB, OTHER],
      'the jobs',
    )
    const [run] = answer.runs
    deepEqual(run, await get(world, delivery.runs[0]?.id ?? ''), 'the run of the answer')
    const { payload, status, unchecked, idempotencyKey, runAt } = run ?? {}
    deepEqual(
      { payload, status, unchecked, idempotencyKey, runAt },
      { payload: '{"id":"u1"}', status: 'pending', unchecked: true, idempotencyKey: `event:${eventId}`, runAt: world.env.wall() },
      'the run',
    )
    deepEqual(await eventTypes(world, run?.id ?? ''), ['run:trigger'], 'its events')
    const owner = await mustClaim(world)
    equal(owner.run.unchecked, true, 'unchecked, when it is claimed')
    await owner.succeed(complete())
    equal((await get(world, owner.run.id)).unchecked, true, 'unchecked, when it has ended')
  },

  'an event may become no run': async (world) => {
    const epoch = await elect(world)
    const eventId = await send(world)
    deepEqual(await clusterOf(world).deliverEvent({ epoch, eventId, runs: [] }), { outcome: 'delivered', runs: [] }, 'the answer')
    deepEqual(await names(world), [], 'the events')
  },

  'a delivery that is sent again answers the same and creates nothing': async (world) => {
    const epoch = await elect(world)
    const delivery = deliveryOf(world, epoch, await send(world))
    const first = await clusterOf(world).deliverEvent(delivery)
    deepEqual(await clusterOf(world).deliverEvent(delivery), first, 'the second answer')
    await world.env.advance(LEAD_MS)
    await elect(world, 'b')
    deepEqual(await clusterOf(world).deliverEvent(delivery), first, 'the answer after a change of the leader')
    equal((await world.store.runs.list({})).length, 1, 'runs')
  },

  'a delivered event becomes no further runs, also after its run was deleted': async (world) => {
    const epoch = await elect(world)
    const eventId = await send(world)
    await clusterOf(world).deliverEvent(deliveryOf(world, epoch, eventId))
    const owner = await mustClaim(world)
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    deepEqual(await clusterOf(world).deliverEvent(deliveryOf(world, epoch, eventId)), { outcome: 'delivered', runs: [] }, 'the same leader')
    await world.env.advance(LEAD_MS)
    await refused(world, deliveryOf(world, await elect(world, 'b'), eventId), 'changed')
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },

  'a leader that was replaced delivers nothing, nor does one that never led': async (world) => {
    const epoch = await elect(world)
    const eventId = await send(world)
    await refused(world, deliveryOf(world, epoch + 1, eventId), 'deposed')
    await world.env.advance(LEAD_MS)
    await elect(world, 'b')
    await refused(world, deliveryOf(world, epoch, eventId), 'deposed')
  },

  'an event that does not exist is not delivered': async (world) => {
    await refused(world, deliveryOf(world, await elect(world), 'none'), 'changed')
  },

  'a run of the job that has the key of the event stays alone': async (world) => {
    const epoch = await elect(world)
    const eventId = await send(world)
    const answer = await clusterOf(world).deliverEvent({
      ...deliveryOf(world, epoch, eventId),
      runs: [...deliveryOf(world, epoch, eventId).runs, ...deliveryOf(world, epoch, eventId).runs],
    })
    ok(answer.outcome === 'delivered', 'it was delivered')
    equal(answer.runs.length, 1, 'runs')
  },

  'an event that is sent again is stored once': async (world) => {
    const event = { id: world.env.id(), name: 'a', data: null, dedupeKey: 'k' }
    for (const dedupeKey of [null, 'k']) {
      const again = { ...event, id: `${event.id}${dedupeKey}`, dedupeKey }
      for (let i = 0; i < 2; i++) deepEqual(await clusterOf(world).putEvent(again), { outcome: 'stored', id: again.id }, 'the answer')
    }
    equal((await names(world)).length, 2, 'events')
  },

  'a second event with a dedupe key is not stored, whether the first was delivered or not': async (world) => {
    const epoch = await elect(world)
    const first = await send(world, { dedupeKey: 'k' })
    const second = () => clusterOf(world).putEvent({ id: world.env.id(), name: 'another', data: '1', dedupeKey: 'k' })
    deepEqual(await second(), { outcome: 'known', id: first }, 'before')
    await clusterOf(world).deliverEvent(deliveryOf(world, epoch, first))
    deepEqual(await second(), { outcome: 'known', id: first }, 'after')
    equal(
      (await clusterOf(world).putEvent({ id: world.env.id(), name: 'a', data: '1', dedupeKey: 'other' })).outcome,
      'stored',
      'another key',
    )
  },

  'a dedupe key is free when its event was delivered long enough ago': async (world) => {
    const first = await send(world, { dedupeKey: 'k' })
    await world.env.advance(2 * DEDUPE_MS)
    equal(await send(world, { dedupeKey: 'k' }), first, 'while it was not delivered')
    await clusterOf(world).deliverEvent(deliveryOf(world, await elect(world), first))
    await world.env.advance(DEDUPE_MS - 1)
    equal(await send(world, { dedupeKey: 'k' }), first, 'a millisecond before')
    await world.env.advance(1)
    const second = await send(world, { dedupeKey: 'k' })
    ok(second !== first, 'it is free')
    equal((await names(world)).length, 1, 'events')
  },

  'old events are removed, the oldest first, and others stay': async (world) => {
    const epoch = await elect(world)
    for (let i = 0; i < 3; i++) {
      await clusterOf(world).deliverEvent({ epoch, eventId: await send(world, { dedupeKey: `${i}` }), runs: [] })
      await world.env.advance(1)
    }
    await send(world)
    equal(await clusterOf(world).forgetEvents(10), 0, 'too early')
    await world.env.advance(DEDUPE_MS - 2)
    equal(await clusterOf(world).forgetEvents(1), 1, 'at most so many')
    equal(await clusterOf(world).forgetEvents(10), 1, 'only old ones')
    equal((await names(world)).length, 1, 'one that was not delivered')
  },

  'an event of a transaction exists if it commits': async (world) => {
    const event = { id: world.env.id(), name: 'a', data: '1', dedupeKey: 'k' }
    if (!world.userTable) {
      await rejects(clusterOf(world).putEvent(event, { within: {} }), 'transaction_unsupported', 'without a database')
      return
    }
    const { transaction, insert } = await world.userTable()
    const both = (fail: boolean) =>
      transaction(async (trx) => {
        await insert(trx, 'mine')
        await clusterOf(world).putEvent(event, { within: trx })
        if (fail) throw new Error('on purpose')
      })
    await both(true).catch(() => {})
    deepEqual(await names(world), [], 'rolled back')
    await both(false)
    deepEqual(await names(world), ['a'], 'committed')
  },
})
