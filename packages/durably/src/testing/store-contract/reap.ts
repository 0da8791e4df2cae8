import { crashLoopError } from '../../store/loss-errors.ts'
import { LEASE_MS_MAX, REAP_MAX } from '../../store/runs.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import {
  claim,
  complete,
  create,
  eventTypes,
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
  recordStep,
  unchanged,
} from './world.ts'

export const reapChapter = chapter('reap', {
  'a recovery whose owner was alive does not count': async (world) => {
    const owner = await held(world)
    const recoveries = async () => (await get(world, owner.run.id)).recoveries
    await unchanged(world, owner.run.id, () => world.store.runs.wasAlive(owner.claim))
    await leasesEnd(world)
    await reap(world)
    const { recoveries: _, ...before } = await get(world, owner.run.id)
    await world.store.runs.wasAlive({ ...owner.claim, generation: owner.claim.generation + 1 })
    equal(await recoveries(), 1, 'after a word of a worker that never had it')
    await world.store.runs.wasAlive(owner.claim)
    const { recoveries: left, ...after } = await get(world, owner.run.id)
    deepEqual([left, after], [0, before], 'while it is pending')
    await world.store.runs.wasAlive(owner.claim)
    equal(await recoveries(), 0, 'never below nothing')
    await mustClaim(world)
    await leasesEnd(world)
    await reap(world)
    const next = await mustClaim(world)
    await world.store.runs.wasAlive(next.claim)
    equal(await recoveries(), 1, 'after a word of the worker that has it')
    await world.store.runs.wasAlive(owner.claim)
    equal(await recoveries(), 0, 'while it has another owner')
    await leasesEnd(world)
    await reap(world)
    await (await mustClaim(world)).succeed(complete())
    await unchanged(world, owner.run.id, () => world.store.runs.wasAlive(owner.claim))
    await world.store.runs.wasAlive({ ...owner.claim, runId: 'nobody' })
  },

  'there is nothing to take back while every lease lasts': async (world) => {
    const owner = await held(world)
    await create(world)
    await world.env.advance(LEASE_MS - 1000)
    deepEqual(await unchanged(world, owner.run.id, () => reap(world)), [], 'reaped')
  },

  'a lease is over in the very millisecond it ends': async (world) => {
    await held(world)
    await world.env.advance(LEASE_MS - 1)
    deepEqual(await reap(world), [], 'a millisecond before')
    await world.env.advance(1)
    equal((await reap(world)).length, 1, 'in that millisecond')
  },

  'a lost run goes back to pending and keeps its place': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { progress: '{"current":1}' })
    const before = await get(world, owner.run.id)
    await leasesEnd(world)
    const younger = await create(world)
    const [reaped, ...others] = await reap(world)
    deepEqual(others, [], 'others')
    equal(reaped?.move, 'reclaim', 'move')
    const row = await get(world, owner.run.id)
    deepEqual(reaped?.run, row, 'the row handed out')
    const given = { status: 'pending' as const, leaseOwner: null, leaseExpiresAt: null, recoveries: 1 }
    const counted = { version: before.version + 1, lastEventSequence: before.lastEventSequence + 1 }
    deepEqual(row, { ...before, ...given, ...counted, updatedAt: row.updatedAt, heartbeatAt: row.heartbeatAt }, 'the row')
    deepEqual((await eventTypes(world, row.id)).at(-1), 'run:reclaim', 'event')
    equal((await mustClaim(world)).run.id, owner.run.id, 'the older one goes first')
    equal((await mustClaim(world)).run.id, younger.id, 'then the younger')
  },

  'a lost run keeps its steps': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    const steps = await world.store.steps.list(owner.run.id)
    await leasesEnd(world)
    await reap(world)
    deepEqual(await world.store.steps.list((await mustClaim(world)).run.id), steps, 'steps')
  },

  'every lost worker in a row counts, up to the limit, then the run fails': async (world) => {
    const { id } = await create(world)
    for (const lost of [1, 2, 3]) {
      await loseWorker(world)
      const [reaped] = await reap(world, 3)
      deepEqual([reaped?.move, reaped?.run.recoveries, reaped?.run.status], ['reclaim', lost, 'pending'], `loss ${lost}`)
    }
    await loseWorker(world)
    const [reaped] = await reap(world, 3)
    equal(reaped?.move, 'reclaimCrashLoop', 'move')
    const row = await get(world, id)
    deepEqual(reaped?.run, row, 'the row handed out')
    const { status, error, reason, leaseOwner, leaseExpiresAt, finishedAt } = row
    deepEqual(
      { status, error, reason, leaseOwner, leaseExpiresAt, finishedAt },
      {
        status: 'failed',
        error: crashLoopError(3),
        reason: 'crash_loop',
        leaseOwner: null,
        leaseExpiresAt: null,
        finishedAt: world.env.wall(),
      },
      'the failed row',
    )
    deepEqual(JSON.parse(row.failure ?? ''), { name: 'DurablyError', code: 'crash_loop', message: crashLoopError(3) }, 'failure')
    equal(await claim(world), null, 'it is not claimed again')
  },

  'the event of a crash loop carries the error': async (world) => {
    const { id } = await create(world)
    await loseWorker(world)
    await reap(world, 0)
    const event = (await world.store.events.list(id)).at(-1)
    equal(event?.type, 'run:fail', 'type')
    const error = crashLoopError(0)
    const failure = { name: 'DurablyError', code: 'crash_loop', message: error }
    deepEqual(JSON.parse(event?.payload ?? ''), { error, failure, failedStepName: '' }, 'payload')
  },

  'without a limit a run is taken back for ever': async (world) => {
    await create(world)
    for (let lost = 1; lost <= 30; lost++) {
      await loseWorker(world)
      const [reaped] = await reap(world, Number.POSITIVE_INFINITY)
      deepEqual([reaped?.move, reaped?.run.recoveries], ['reclaim', lost], `loss ${lost}`)
    }
  },

  'a run that was asked to stop is cancelled when its worker is lost': async (world) => {
    const owner = await held(world)
    await world.store.runs.cancel(owner.run.id)
    const before = await get(world, owner.run.id)
    await leasesEnd(world)
    const [reaped] = await reap(world, 0)
    equal(reaped?.move, 'reclaimCancelled', 'move')
    const row = await get(world, owner.run.id)
    deepEqual(reaped?.run, row, 'the row handed out')
    deepEqual([row.status, row.reason, row.error], ['cancelled', null, null], 'status, reason and error')
    deepEqual([row.cancelRequestedAt, row.finishedAt], [before.cancelRequestedAt, world.env.wall()], 'times')
    equal(row.version, before.version + 1, 'version')
    deepEqual((await eventTypes(world, row.id)).at(-1), 'run:cancel', 'event')
  },

  'the lease that ended first is taken back first, a page at a time': async (world) => {
    const owners: Owner[] = []
    await world.store.runs.create(Array.from({ length: REAP_MAX + 10 }, () => newRun(world)))
    for (let i = 0; i < REAP_MAX + 10; i++) owners.push(await mustClaim(world))
    // The last one to be claimed is the first to end.
    for (const owner of [...owners].reverse()) {
      await owner.succeed(heartbeat())
      await world.env.advance(1)
    }
    await leasesEnd(world)
    const expected = owners.map((owner) => owner.run.id).reverse()
    const ids = async () => (await reap(world)).map(({ run }) => run.id)
    deepEqual(await ids(), expected.slice(0, REAP_MAX), 'the first page')
    deepEqual(await ids(), expected.slice(REAP_MAX), 'the second page')
    deepEqual(await ids(), [], 'the third page')
  },

  'runs of every job are taken back, and only those whose lease is over': async (world) => {
    const lost = await held(world, { jobName: 'not registered here' })
    await world.env.advance(LEASE_MS - 1000)
    const alive = await held(world)
    await world.env.advance(2000)
    deepEqual(
      (await reap(world)).map(({ run }) => run.id),
      [lost.run.id],
      'reaped',
    )
    equal((await get(world, alive.run.id)).status, 'running', 'the other')
  },

  'a lease that a broken clock put far ahead counts as over': async (world) => {
    const owner = await held(world)
    world.env.jump(-LEASE_MS_MAX)
    deepEqual(await reap(world), [{ run: await get(world, owner.run.id), move: 'reclaim' }], 'reaped')
  },

  'a limit of recoveries may be any whole number': async (world) => {
    const owner = await held(world)
    await world.env.advance(LEASE_MS)
    const reaped = await world.store.runs.reap({ maxRecoveries: Number.MAX_SAFE_INTEGER })
    deepEqual(reaped, [{ run: await get(world, owner.run.id), move: 'reclaim' }], 'reaped')
  },

  'a lease of the longest length is not taken for a broken clock': async (world) => {
    await create(world)
    await mustClaim(world, [JOB], LEASE_MS_MAX)
    deepEqual(await reap(world), [], 'reaped')
    world.env.jump(-1)
    equal((await reap(world)).length, 1, 'a millisecond further ahead')
  },

  'runs whose owners are known to be gone are taken back at once by their claims, whatever their leases': async (world) => {
    const stopping = await held(world, { jobName: 'stopping' })
    await world.store.runs.cancel(stopping.run.id)
    await world.env.advance(1)
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    await create(world, { jobName: 'waiting' })
    world.env.jump(-LEASE_MS_MAX)
    const far = await held(world, { jobName: 'far ahead' })
    world.env.jump(LEASE_MS_MAX)
    const other = await held(world, { jobName: 'not named' })
    const tokens = [...[stopping, owner, far].map(({ claim }) => claim.token), 'unknown', owner.claim.token]
    const reaped = await world.store.runs.reap({ maxRecoveries: 10, tokens })
    deepEqual(
      reaped.map(({ run, move }) => [run.id, move]),
      [
        [far.run.id, 'reclaim'],
        [stopping.run.id, 'reclaimCancelled'],
        [owner.run.id, 'reclaim'],
      ],
      'by the end of their leases',
    )
    deepEqual(await owner.write(heartbeat()), REFUSED, 'what an owner writes that is not gone after all')
    await other.succeed(heartbeat())
    const next = await mustClaim(world)
    deepEqual(await world.store.runs.reap({ maxRecoveries: 10, tokens }), [], 'once more, when it was claimed anew')
    equal((await get(world, next.run.id)).status, 'running', 'the new claim')
    deepEqual(await world.store.runs.reap({ maxRecoveries: 10, tokens: [] }), [], 'of nobody')
  },

  'of the runs whose owners are gone, too, one page is taken back at a time': async (world) => {
    await world.store.runs.create(Array.from({ length: REAP_MAX + 1 }, () => newRun(world)))
    const tokens: string[] = []
    for (let i = 0; i <= REAP_MAX; i++) tokens.push((await mustClaim(world)).claim.token)
    const page = async () => (await world.store.runs.reap({ maxRecoveries: 10, tokens })).length
    deepEqual([await page(), await page(), await page()], [REAP_MAX, 1, 0], 'pages')
  },

  'concurrent reapers take a run back once': async (world) => {
    const { id } = await create(world)
    await loseWorker(world)
    const reaped = (await Promise.all(Array.from({ length: 5 }, () => reap(world)))).flat()
    equal(reaped.length, 1, 'reaped')
    const row = await get(world, id)
    equal(row.recoveries, 1, 'recoveries')
    ok((await eventTypes(world, id)).filter((type) => type === 'run:reclaim').length === 1, 'one event')
  },

  'an owner write and a reaper at once: one comes first, and the other sees it': async (world) => {
    for (let round = 0; round < 10; round++) {
      const owner = await held(world, { jobName: `job ${round}` })
      await leasesEnd(world)
      const early = round % 2 ? reap(world) : null
      const [outcome, reaped] = await Promise.all([owner.write(heartbeat()), early ?? reap(world)])
      equal(outcome.ok, reaped.length === 0, 'the owner keeps the run exactly if it was not taken back')
      equal((await get(world, owner.run.id)).status, outcome.ok ? 'running' : 'pending', 'status')
      if (outcome.ok) await owner.succeed(complete())
    }
  },

  'an idle store has nothing to take back': async (world) => {
    deepEqual(await reap(world), [], 'of an empty store')
    await create(world)
    await leasesEnd(world)
    deepEqual(await reap(world), [], 'of pending runs')
  },
})

function reap({ store }: World, maxRecoveries = 10) {
  return store.runs.reap({ maxRecoveries })
}

async function loseWorker(world: World): Promise<void> {
  await mustClaim(world)
  await leasesEnd(world)
}
