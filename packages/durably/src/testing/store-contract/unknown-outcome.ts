// A reply can be lost after its verb took effect (S3). A verb that is sent again takes effect once.
import { deepEqual, equal, ok } from '../assert.ts'
import { type Case, chapter } from './chapter.ts'
import {
  ACCEPTED,
  attachmentsOf,
  claim,
  complete,
  create,
  eventTypes,
  fail,
  get,
  heartbeat,
  held,
  ids,
  JOB,
  LEASE_MS,
  leasesEnd,
  logLine,
  mustClaim,
  newRun,
  OWNER_VERB_NAMES,
  OWNER_VERBS,
  REFUSED,
  recordStep,
  release,
  rowOf,
  send,
  unchanged,
} from './world.ts'

const ownerVerbsTwice: Case[] = OWNER_VERB_NAMES.map((verb) => ({
  name: `${verb} sent twice has the effect of once`,
  async run(world) {
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    const write = owner.next(OWNER_VERBS[verb](owner), attachmentsOf(owner))
    deepEqual(await send(world, write), ACCEPTED, 'the first time')
    await world.env.advance(1000)
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'the second time')
    await leasesEnd(world)
    deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'long after')
  },
}))

export const unknownOutcome = chapter(
  'unknown outcome',
  {
    'create sent twice makes one run': async (world) => {
      const runs = [newRun(world, { idempotencyKey: 'k' }), newRun(world)]
      const first = await world.store.runs.create(runs)
      await world.env.advance(1000)
      deepEqual(await world.store.runs.create(runs), first, 'the second answer')
      for (const { id } of runs) deepEqual(await eventTypes(world, id), ['run:trigger'], 'events')
      equal((await world.store.runs.list({})).length, 2, 'stored runs')
    },

    'create sent again after the run went on answers with the run as it is': async (world) => {
      const run = newRun(world, { idempotencyKey: 'k' })
      await world.store.runs.create([run])
      await (await mustClaim(world)).succeed(complete())
      const answer = await unchanged(world, run.id, () => world.store.runs.create([run]))
      deepEqual(answer, [{ run: await get(world, run.id), created: true }], 'answer')
    },

    'create sent again distinguishes its own run from one that was there before': async (world) => {
      const known = await create(world, { idempotencyKey: 'k' })
      const runs = [newRun(world), newRun(world, { idempotencyKey: 'k' }), newRun(world, { idempotencyKey: 'k' })]
      const first = await world.store.runs.create(runs)
      deepEqual(await world.store.runs.create(runs), first, 'the second answer')
      deepEqual(
        first.map(({ run, created }) => [run.id, created]),
        [
          [runs[0]?.id, true],
          [known.id, false],
          [known.id, false],
        ],
        'answers',
      )
    },

    'claim sent twice takes one run': async (world) => {
      await world.store.runs.create([newRun(world), newRun(world)])
      const request = { jobNames: [JOB], tokens: ['mine'], leaseMs: LEASE_MS }
      const [first] = await world.store.runs.claim(request)
      ok(first, 'a run')
      await world.env.advance(1000)
      deepEqual(await unchanged(world, first.id, () => world.store.runs.claim(request)), [first], 'the second answer')
      equal((await world.store.runs.list({ statuses: ['pending'] })).length, 1, 'the other run waits')
    },

    'one claim sent ten times at once takes one run': async (world) => {
      await world.store.runs.create(Array.from({ length: 10 }, () => newRun(world)))
      const request = { jobNames: [JOB], tokens: ['mine'], leaseMs: LEASE_MS }
      const claimed = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.claim(request)))
      equal(new Set(claimed.map((runs) => ids(runs).join())).size, 1, 'different answers')
      equal((await world.store.runs.list({ statuses: ['running'] })).length, 1, 'running runs')
    },

    'adopt finds the run that a claim took': async (world) => {
      await create(world)
      await world.store.runs.claim({ jobNames: [JOB], tokens: ['mine'], leaseMs: LEASE_MS })
      await create(world)
      const other = await mustClaim(world)
      const [run] = await world.store.runs.adopt(['mine'])
      ok(run && run.id !== other.run.id, 'the run under the token')
      deepEqual(await unchanged(world, run.id, () => world.store.runs.adopt(['mine'])), [await get(world, run.id)], 'as it is')
    },

    'adopt finds nothing under a token that claimed nothing': async (world) => {
      await held(world)
      deepEqual(await world.store.runs.adopt(['never seen']), [], 'the run')
    },

    'adopt finds nothing once the lease has ended': async (world) => {
      const done = await held(world, { jobName: 'a' })
      await done.succeed(complete())
      deepEqual(await world.store.runs.adopt([done.claim.token]), [], 'a completed run')
      const released = await held(world, { jobName: 'b' })
      await released.succeed(release())
      deepEqual(await world.store.runs.adopt([released.claim.token]), [], 'a released run')
      const lost = await held(world, { jobName: 'c' })
      await leasesEnd(world)
      await world.store.runs.reap({ maxRecoveries: 10 })
      deepEqual(await world.store.runs.adopt([lost.claim.token]), [], 'a lost run')
      await mustClaim(world, ['c'])
      deepEqual(await world.store.runs.adopt([lost.claim.token]), [], 'a lost run that another has')
    },

    'a write sent again after later ones has the effect of once': async (world) => {
      const owner = await held(world)
      const early = owner.next(recordStep(owner, { name: 'a' }), attachmentsOf(owner))
      await send(world, early)
      await owner.succeed(recordStep(owner, { name: 'b', index: 1 }), { progress: '{"current":2}' })
      await owner.succeed(heartbeat())
      deepEqual(await unchanged(world, owner.run.id, () => send(world, early)), ACCEPTED, 'the write sent again')
    },

    'a step that was refused is still refused when it is sent again after later writes': async (world) => {
      const owner = await held(world)
      await owner.succeed(recordStep(owner, { name: 'a' }))
      const refused = owner.next(recordStep(owner, { name: 'a', index: 1 }), attachmentsOf(owner))
      deepEqual(await send(world, refused), REFUSED, 'the first time')
      await owner.succeed(heartbeat())
      deepEqual(await unchanged(world, owner.run.id, () => send(world, refused)), REFUSED, 'the second time')
      await owner.succeed(complete())
      deepEqual(await unchanged(world, owner.run.id, () => send(world, refused)), REFUSED, 'after the end')
    },

    'a step under a number that another write has used is not recorded': async (world) => {
      const owner = await held(world)
      const used = owner.next(heartbeat())
      const step = { ...owner.next(recordStep(owner), attachmentsOf(owner)), number: used.number }
      deepEqual(await world.store.runs.apply([used, step]), [ACCEPTED, REFUSED], 'in one call')
      deepEqual(await unchanged(world, owner.run.id, () => send(world, step)), REFUSED, 'in a call of its own')
      deepEqual(await world.store.steps.list(owner.run.id), [], 'steps')
    },

    'a write sent again next to new ones is the only one without effect': async (world) => {
      const one = await held(world, { jobName: 'one' })
      const other = await held(world, { jobName: 'other' })
      const known = one.next(recordStep(one), attachmentsOf(one))
      await send(world, known)
      const fresh = other.next(recordStep(other), attachmentsOf(other))
      deepEqual(await unchanged(world, one.run.id, () => world.store.runs.apply([known, fresh])), [ACCEPTED, ACCEPTED], 'outcomes')
      equal((await get(world, other.run.id)).currentStepIndex, 1, 'the other run')
    },

    'the answer to a write that is sent again reports a cancel that came in between': async (world) => {
      const owner = await held(world)
      const write = owner.next(heartbeat())
      await send(world, write)
      await world.store.runs.cancel(owner.run.id)
      deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), { ok: true, cancelRequested: true }, 'outcome')
    },

    'a write that was applied is known after the run was taken back, a new one is refused': async (world) => {
      const owner = await held(world)
      const write = owner.next(recordStep(owner), attachmentsOf(owner))
      await send(world, write)
      await leasesEnd(world)
      await world.store.runs.reap({ maxRecoveries: 10 })
      deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), ACCEPTED, 'the known one')
      deepEqual(await unchanged(world, owner.run.id, () => owner.write(heartbeat())), REFUSED, 'a new one')
    },

    'a failure sent again after a retry does not undo the retry': async (world) => {
      const owner = await held(world)
      const write = owner.next(fail(), attachmentsOf(owner))
      await send(world, write)
      await world.store.runs.retry(owner.run.id)
      equal((await unchanged(world, owner.run.id, () => send(world, write))).ok, true, 'while nobody has claimed it')
      await mustClaim(world)
      deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), REFUSED, 'once it has another owner')
    },

    'a release sent again does not take the run from its next owner': async (world) => {
      const owner = await held(world)
      const write = owner.next(release())
      await send(world, write)
      await mustClaim(world)
      deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), REFUSED, 'outcome')
    },

    'numbers start again with every lease': async (world) => {
      const first = await held(world)
      for (let i = 0; i < 5; i++) await first.succeed(heartbeat())
      await first.succeed(release())
      const second = await mustClaim(world)
      deepEqual(await second.write(recordStep(second)), ACCEPTED, 'number 1')
      equal((await get(world, second.run.id)).currentStepIndex, 1, 'it took effect')
    },

    'one write sent ten times at once has the effect of once': async (world) => {
      const owner = await held(world)
      const write = owner.next(recordStep(owner), attachmentsOf(owner))
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => send(world, write)))
      deepEqual(outcomes, Array(10).fill(ACCEPTED), 'outcomes')
      equal((await get(world, owner.run.id)).currentStepIndex, 1, 'index')
      deepEqual(await eventTypes(world, owner.run.id), ['run:trigger', 'run:start', 'run:progress', 'log:write', 'step:complete'], 'events')
    },

    'cancel sent twice has the effect of once': async (world) => {
      const { id } = await create(world)
      await world.store.runs.cancel(id)
      await world.env.advance(1000)
      equal(rowOf(await unchanged(world, id, () => world.store.runs.cancel(id)))?.status, 'cancelled', 'status')
    },

    'retry sent twice has the effect of once': async (world) => {
      const owner = await held(world)
      await owner.succeed(fail())
      await world.store.runs.retry(owner.run.id)
      await world.env.advance(1000)
      equal(rowOf(await unchanged(world, owner.run.id, () => world.store.runs.retry(owner.run.id)))?.status, 'pending', 'status')
    },

    'delete sent twice has the effect of once': async (world) => {
      const owner = await held(world)
      await owner.succeed(complete())
      await world.store.runs.delete(owner.run.id)
      equal(await world.store.runs.delete(owner.run.id), null, 'the second answer')
    },

    'reap sent twice has the effect of once': async (world) => {
      const owner = await held(world)
      await leasesEnd(world)
      await world.store.runs.reap({ maxRecoveries: 10 })
      deepEqual(await unchanged(world, owner.run.id, () => world.store.runs.reap({ maxRecoveries: 10 })), [], 'the second answer')
      equal((await claim(world))?.run.recoveries, 1, 'recoveries')
    },

    'log lines sent twice are kept once': async (world) => {
      const { id } = await create(world)
      const lines = [logLine(world, id), logLine(world, id)]
      await world.store.logs.append(lines)
      await unchanged(world, id, () => world.store.logs.append(lines))
      deepEqual(await world.store.logs.list(id), lines, 'lines')
    },
  },
  ownerVerbsTwice,
)
