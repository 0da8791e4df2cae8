import type { TerminalStatus } from '../../model/run.ts'
import { TERMINAL_STATUSES } from '../../model/run.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  attachmentsOf,
  claim,
  complete,
  create,
  eventTypes,
  everything,
  fail,
  get,
  heartbeat,
  held,
  inStatus,
  logLine,
  mustClaim,
  newRun,
  recordFailedStep,
  recordStep,
  release,
  unchanged,
} from './world.ts'

const ENDED = TERMINAL_STATUSES as readonly TerminalStatus[]

export const cancelRetryDelete = chapter('cancel, retry, delete', {
  'cancel, retry and delete answer null for a run that does not exist': async (world) => {
    const id = world.env.id()
    equal(await world.store.runs.cancel(id), null, 'cancel')
    equal(await world.store.runs.retry(id), null, 'retry')
    equal(await world.store.runs.delete(id), null, 'delete')
    equal(await world.store.runs.get(id), null, 'get')
  },

  'cancel of a pending run cancels it at once': async (world) => {
    const before = await create(world)
    await world.env.advance(10)
    const now = world.env.wall()
    const answer = await world.store.runs.cancel(before.id)
    const row = await get(world, before.id)
    deepEqual(answer, { outcome: 'cancelled', run: row, others: [] }, 'answer')
    const ended = { status: 'cancelled' as const, cancelRequestedAt: now, finishedAt: now }
    const counted = { version: before.version + 1, lastEventSequence: 2 }
    deepEqual(row, { ...before, ...ended, ...counted, updatedAt: row.updatedAt }, 'the row')
    deepEqual(await eventTypes(world, row.id), ['run:trigger', 'run:cancel'], 'events')
    equal(await claim(world), null, 'it is not claimed')
  },

  'cancel of a running run only asks its owner to stop': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    const answer = await world.store.runs.cancel(owner.run.id)
    const row = await get(world, owner.run.id)
    deepEqual(answer, { outcome: 'requested', run: row, others: [] }, 'answer')
    const asked = { cancelRequestedAt: world.env.wall(), version: owner.run.version + 1 }
    deepEqual(row, { ...owner.run, ...asked, updatedAt: row.updatedAt }, 'the row')
    deepEqual(await eventTypes(world, row.id), ['run:trigger', 'run:start'], 'events')
  },

  'asking a second time changes nothing': async (world) => {
    const owner = await held(world)
    await world.store.runs.cancel(owner.run.id)
    await world.env.advance(10)
    const answer = await unchanged(world, owner.run.id, () => world.store.runs.cancel(owner.run.id))
    deepEqual(answer, { outcome: 'requested', run: await get(world, owner.run.id), others: [] }, 'answer')
  },

  'cancel of a finished run is refused': async (world) => {
    for (const status of ENDED) {
      const { id } = await inStatus(world, status, status)
      const answer = await unchanged(world, id, () => world.store.runs.cancel(id))
      deepEqual(answer, { outcome: 'refused', run: await get(world, id), others: [] }, status)
    }
  },

  'a cancel request outlives the release of its owner': async (world) => {
    const owner = await held(world)
    await world.store.runs.cancel(owner.run.id)
    const { cancelRequestedAt } = await get(world, owner.run.id)
    await owner.succeed(release())
    equal((await mustClaim(world)).run.cancelRequestedAt, cancelRequestedAt, 'the next owner sees the request')
  },

  'retry takes a failed run back to pending': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner), { progress: '{"current":1}' })
    await world.store.runs.cancel(owner.run.id)
    await owner.succeed(fail())
    const before = await get(world, owner.run.id)
    await world.env.advance(10)
    const answer = await world.store.runs.retry(before.id)
    const row = await get(world, before.id)
    deepEqual(answer, { outcome: 'retried', run: row }, 'answer')
    const cleared = { error: null, failure: null, reason: null, output: null, finishedAt: null, cancelRequestedAt: null }
    const counted = { recoveries: 0, attempts: 0, retryGeneration: 1, version: before.version + 1 }
    const logged = { lastEventSequence: before.lastEventSequence + 1 }
    deepEqual(row, { ...before, ...cleared, ...counted, ...logged, status: 'pending' as const, updatedAt: row.updatedAt }, 'the row')
    equal((await eventTypes(world, row.id)).at(-1), 'run:retry', 'event')
  },

  'whichever comes first of the end of an attempt and a retry, the run is failed or goes on': async (world) => {
    for (let i = 0; i < 5; i++) {
      const owner = await held(world)
      const [, answer] = await Promise.all([owner.write(fail()), world.store.runs.retry(owner.run.id)])
      equal((await get(world, owner.run.id)).status, answer?.outcome === 'retried' ? 'pending' : 'failed', 'status')
      await world.store.runs.cancel(owner.run.id)
    }
  },

  'retry keeps the steps and the place of the run (000: retry skips completed steps)': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner, { name: 'a' }))
    await owner.succeed(recordFailedStep(owner, { name: 'b', index: 1 }))
    await owner.succeed(fail())
    const { steps } = await everything(world, owner.run.id)
    await world.env.advance(10)
    await create(world)
    await world.store.runs.retry(owner.run.id)
    const again = await mustClaim(world)
    deepEqual([again.run.id, again.run.leaseGeneration], [owner.run.id, 2], 'the claimed run')
    deepEqual((await everything(world, owner.run.id)).steps, steps, 'steps')
  },

  'retry forgets the lost workers of a crash loop': async (world) => {
    const { id } = await create(world)
    for (const maxRecoveries of [1, 1]) {
      await mustClaim(world)
      await world.env.advance(60_000)
      await world.store.runs.reap({ maxRecoveries })
    }
    equal((await get(world, id)).reason, 'crash_loop', 'reason')
    await world.store.runs.retry(id)
    await mustClaim(world)
    await world.env.advance(60_000)
    const [reaped] = await world.store.runs.reap({ maxRecoveries: 1 })
    equal(reaped?.move, 'reclaim', 'the next loss')
  },

  'retry of a run that has not failed is refused': async (world) => {
    for (const status of ['pending', 'running', 'completed', 'cancelled'] as const) {
      const { id } = await inStatus(world, status, status)
      const answer = await unchanged(world, id, () => world.store.runs.retry(id))
      deepEqual(answer, { outcome: 'refused', run: await get(world, id) }, status)
    }
  },

  'delete removes a finished run and all that belongs to it': async (world) => {
    for (const status of ENDED) {
      const other = await held(world, { jobName: `other ${status}` })
      await other.succeed(recordStep(other), attachmentsOf(other))
      const owner = await held(world, { jobName: status })
      await owner.succeed(recordStep(owner), attachmentsOf(owner))
      if (status === 'cancelled') await world.store.runs.cancel(owner.run.id)
      await owner.succeed({ completed: complete, failed: fail, cancelled: () => ({ type: 'abandon' }) as const }[status]())
      const deleted = await unchanged(world, other.run.id, () => world.store.runs.delete(owner.run.id))
      deepEqual(deleted, { outcome: 'deleted', status }, status)
      deepEqual(
        await everything(world, owner.run.id),
        { run: null, steps: [], events: [], logs: [], signals: [] },
        `all of a ${status} run`,
      )
      deepEqual(
        (await world.store.runs.list({})).filter((run) => run.id === owner.run.id),
        [],
        'the list',
      )
    }
  },

  'delete of an active run is refused': async (world) => {
    for (const status of ['pending', 'running'] as const) {
      const { id } = await inStatus(world, status, status)
      const answer = await unchanged(world, id, () => world.store.runs.delete(id))
      deepEqual(answer, { outcome: 'refused', status }, status)
    }
  },

  'deleting a run frees its idempotency key': async (world) => {
    const owner = await held(world, { idempotencyKey: 'k' })
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    const run = newRun(world, { idempotencyKey: 'k' })
    const [created] = await world.store.runs.create([run])
    deepEqual([created?.run.id, created?.created], [run.id, true], 'the new run')
  },

  'nothing can be added to a deleted run': async (world) => {
    const owner = await held(world)
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    await owner.write(heartbeat(), attachmentsOf(owner))
    await world.store.logs.append([logLine(world, owner.run.id)])
    deepEqual(await everything(world, owner.run.id), { run: null, steps: [], events: [], logs: [], signals: [] }, 'all of it')
  },

  'ten concurrent cancels cancel a pending run once': async (world) => {
    const { id } = await create(world)
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.cancel(id)))
    equal(answers.filter((answer) => answer?.outcome === 'cancelled').length, 1, 'cancelled')
    equal(answers.filter((answer) => answer?.outcome === 'refused').length, 9, 'refused')
    deepEqual(await eventTypes(world, id), ['run:trigger', 'run:cancel'], 'events')
  },

  'cancel and claim at once: one comes first, and the other sees it': async (world) => {
    for (let round = 0; round < 10; round++) {
      const { id } = await create(world)
      const early = round % 2 ? world.store.runs.cancel(id) : null
      const [owner, answer] = await Promise.all([claim(world), early ?? world.store.runs.cancel(id)])
      equal(answer?.outcome, owner ? 'requested' : 'cancelled', 'answer')
      equal((await get(world, id)).status, owner ? 'running' : 'cancelled', 'status')
      if (owner) await owner.succeed(complete())
    }
  },

  'cancel and complete at once: one comes first, and the other sees it': async (world) => {
    for (let round = 0; round < 10; round++) {
      const owner = await held(world)
      const early = round % 2 ? world.store.runs.cancel(owner.run.id) : null
      const [outcome, answer] = await Promise.all([owner.write(complete()), early ?? world.store.runs.cancel(owner.run.id)])
      deepEqual(outcome, { ok: true, cancelRequested: answer?.outcome === 'requested' }, 'outcome')
      equal((await get(world, owner.run.id)).status, 'completed', 'status')
    }
  },

  'ten concurrent retries retry a failed run once': async (world) => {
    const owner = await held(world)
    await owner.succeed(fail())
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.retry(owner.run.id)))
    equal(answers.filter((answer) => answer?.outcome === 'retried').length, 1, 'retried')
    equal((await eventTypes(world, owner.run.id)).filter((type) => type === 'run:retry').length, 1, 'events')
  },

  'retry and delete at once: one comes first, and the other sees it': async (world) => {
    for (let round = 0; round < 10; round++) {
      const { id } = await inStatus(world, 'failed', `job ${round}`)
      const early = round % 2 ? world.store.runs.delete(id) : null
      const [retried, deleted] = await Promise.all([world.store.runs.retry(id), early ?? world.store.runs.delete(id)])
      equal(deleted?.outcome, retried?.outcome === 'retried' ? 'refused' : 'deleted', 'answer')
      equal((await world.store.runs.get(id))?.status, retried ? 'pending' : undefined, 'status')
    }
  },
})
