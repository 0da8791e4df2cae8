// When a run is due: by the store's clock, at its creation and after a failed attempt.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { ACCEPTED, claim, create, eventTypes, fail, get, held, ids, JOB, mustClaim, newRun, recordStep, retryLater } from './world.ts'

const DELAY_MS = 5000

export const dueTimes = chapter('due times', {
  'a delay counts from the moment that the store has the run': async (world) => {
    const given = newRun(world, { delayMs: DELAY_MS })
    await world.env.advance(300)
    const [created] = await world.store.runs.create([given])
    equal(created?.run.runAt, world.env.wall() + DELAY_MS, 'due')
  },

  'a time is kept as it was given, also when it is over': async (world) => {
    const now = world.env.wall()
    for (const runAt of [now + DELAY_MS, now, now - DELAY_MS]) equal((await create(world, { runAt })).runAt, runAt, 'due')
  },

  'a run is not claimable before it is due, and then at once': async (world) => {
    const { id } = await create(world, { delayMs: DELAY_MS })
    equal(await claim(world), null, 'at once')
    await world.env.advance(DELAY_MS - 1)
    equal(await claim(world), null, 'a millisecond before')
    await world.env.advance(1)
    equal((await mustClaim(world)).run.id, id, 'when it is due')
  },

  'runs are claimed by when they were due, not by when they were created': async (world) => {
    const now = world.env.wall()
    const late = await create(world, { runAt: now + 20 })
    const early = await create(world, { runAt: now + 10 })
    const past = await create(world, { runAt: now - 10 })
    await world.env.advance(100)
    const claimed = [await mustClaim(world), await mustClaim(world), await mustClaim(world)]
    deepEqual(ids(claimed.map(({ run }) => run)), ids([past, early, late]), 'the order')
  },

  'a sleeping run does not hold up one that waits for the same key': async (world) => {
    await create(world, { delayMs: DELAY_MS, concurrencyKey: 'k' })
    const second = await create(world, { concurrencyKey: 'k' })
    equal((await mustClaim(world)).run.id, second.id, 'the one that is due')
  },

  'a run created again keeps the time of the first': async (world) => {
    const given = newRun(world, { delayMs: DELAY_MS, idempotencyKey: 'k' })
    const [first] = await world.store.runs.create([given])
    await world.env.advance(100)
    const [again] = await world.store.runs.create([given])
    equal(again?.run.runAt, first?.run.runAt, 'sent again')
    equal((await create(world, { idempotencyKey: 'k', delayMs: 1 })).runAt, first?.run.runAt, 'with the same key')
  },

  'probe returns when the next sleeping run falls due': async (world) => {
    await create(world, { delayMs: DELAY_MS })
    await create(world, { delayMs: 2 * DELAY_MS })
    await create(world, { jobName: 'of another worker', delayMs: 1 })
    deepEqual(await world.store.runs.probe([JOB]), { due: false, stale: false, nextInMs: DELAY_MS }, 'before')
    await world.env.advance(DELAY_MS)
    deepEqual(await world.store.runs.probe([JOB]), { due: true, stale: false, nextInMs: DELAY_MS }, 'when the first is due')
  },

  'retryLater gives the run back until its next attempt is due': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    await world.env.advance(10)
    const runAt = world.env.wall() + DELAY_MS
    const before = await get(world, owner.run.id)
    const verb = retryLater(runAt, 'no answer')
    deepEqual(await owner.write(verb), ACCEPTED, 'outcome')
    const row = await get(world, owner.run.id)
    const failure = JSON.stringify({ name: 'Error', message: 'no answer' })
    const failed = { status: 'pending' as const, error: 'no answer', failure, attempts: 1 }
    const given = { leaseOwner: null, leaseExpiresAt: null, runAt, waitingFor: row.waitingFor, version: before.version + 1 }
    const counted = { leaseWrites: 2, lastEventSequence: before.lastEventSequence + 1, updatedAt: row.updatedAt }
    deepEqual(row, { ...before, ...failed, ...given, ...counted }, 'the row')
    equal(verb.type === 'retryLater' && verb.waitingFor, row.waitingFor, 'what it waits for')
    equal(await claim(world), null, 'before it is due')
    await world.env.advance(DELAY_MS)
    equal((await mustClaim(world)).run.currentStepIndex, 1, 'completed steps stay')
  },

  'retryLater logs why, which attempt it was and when the next one is due': async (world) => {
    const owner = await held(world)
    const runAt = world.env.wall() + DELAY_MS
    await owner.succeed(retryLater(runAt, 'no answer'))
    const event = (await world.store.events.list(owner.run.id)).at(-1)
    const payload = { generation: 1, error: 'no answer', attempt: 1, runAt: new Date(runAt).toISOString() }
    deepEqual([event?.type, JSON.parse(event?.payload ?? '{}')], ['run:retry', payload], 'the event')
  },

  'every failed attempt counts, whether it is the last or not': async (world) => {
    const { id } = await create(world)
    for (const attempts of [1, 2]) {
      await (await mustClaim(world)).succeed(retryLater(world.env.wall()))
      equal((await get(world, id)).attempts, attempts, 'after a retry')
    }
    await (await mustClaim(world)).succeed(fail())
    const { attempts, reason, error } = await get(world, id)
    deepEqual([attempts, reason, error], [3, 'error', 'boom'], 'after the last')
  },

  'an attempt that failed is forgotten when a later one completes': async (world) => {
    const { id } = await create(world)
    await (await mustClaim(world)).succeed(retryLater(world.env.wall()))
    await (await mustClaim(world)).succeed({ type: 'complete', output: '1' })
    const { error, failure, reason, attempts } = await get(world, id)
    deepEqual([error, failure, reason, attempts], [null, null, null, 1], 'what is left')
  },

  'a manual retry begins to count anew and is due at once': async (world) => {
    const owner = await held(world)
    await owner.succeed(retryLater(world.env.wall()))
    await (await mustClaim(world)).succeed(fail())
    await world.store.runs.retry(owner.run.id)
    equal((await get(world, owner.run.id)).attempts, 0, 'attempts')
    equal((await mustClaim(world)).run.id, owner.run.id, 'claimed at once')
  },

  'a cancel that came before retryLater makes the run claimable at once': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    await world.store.runs.cancel(owner.run.id)
    deepEqual(await owner.write(retryLater(world.env.wall() + DELAY_MS)), { ok: true, cancelRequested: true }, 'outcome')
    const next = await mustClaim(world)
    deepEqual([next.run.runAt, next.run.attempts], [owner.run.runAt, 1], 'due time and attempts')
    equal(next.run.cancelRequestedAt !== null, true, 'the next owner sees the request')
  },

  'a cancel that comes after retryLater ends the run': async (world) => {
    const owner = await held(world)
    await owner.succeed(retryLater(world.env.wall() + DELAY_MS))
    equal((await world.store.runs.cancel(owner.run.id))?.outcome, 'cancelled', 'outcome')
    await world.env.advance(2 * DELAY_MS)
    equal(await claim(world), null, 'nothing to claim')
    deepEqual(await eventTypes(world, owner.run.id), ['run:trigger', 'run:start', 'run:retry', 'run:cancel'], 'events')
  },
})
