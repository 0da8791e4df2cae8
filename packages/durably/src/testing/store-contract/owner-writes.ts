import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import {
  ACCEPTED,
  abandon,
  attachmentsOf,
  complete,
  create,
  everything,
  fail,
  get,
  heartbeat,
  held,
  JOB,
  LEASE_MS,
  mustClaim,
  newRun,
  type Owner,
  REFUSED,
  recordFailedStep,
  recordStep,
  release,
  unchanged,
} from './world.ts'

export const ownerWrites = chapter('owner writes', {
  'a heartbeat renews the lease from now and nothing else': async (world) => {
    const owner = await held(world)
    await world.env.advance(10_000)
    deepEqual(await owner.write(heartbeat(60_000)), ACCEPTED, 'outcome')
    const { heartbeatAt, updatedAt, ...row } = await get(world, owner.run.id)
    const { heartbeatAt: was, updatedAt: _, ...before } = owner.run
    deepEqual(row, { ...before, leaseExpiresAt: world.env.wall() + 60_000, leaseWrites: 1 }, 'the row')
    ok(heartbeatAt > was, 'a sign of life')
  },

  'a completed step is recorded as given': async (world) => {
    const owner = await held(world)
    await world.env.advance(10_000)
    const verb = recordStep(owner, { name: 'fetch', index: 4 })
    deepEqual(await owner.write(verb), ACCEPTED, 'outcome')
    ok(verb.type === 'recordStep', 'the verb')
    deepEqual(await world.store.steps.list(owner.run.id), [verb.step], 'list()')
  },

  'a completed step counts, renews the lease and ends a series of lost workers': async (world) => {
    await create(world)
    await mustClaim(world)
    await world.env.advance(LEASE_MS + 1)
    await world.store.runs.reap({ maxRecoveries: 5 })
    const owner = await mustClaim(world)
    equal(owner.run.recoveries, 1, 'recoveries before')
    await world.env.advance(10_000)
    await owner.succeed(recordStep(owner, {}, 60_000))
    const { heartbeatAt, updatedAt, ...row } = await get(world, owner.run.id)
    const { heartbeatAt: was, updatedAt: _, ...before } = owner.run
    const changed = { currentStepIndex: 1, recoveries: 0, leaseExpiresAt: world.env.wall() + 60_000, leaseWrites: 1 }
    deepEqual(row, { ...before, ...changed, lastEventSequence: before.lastEventSequence + 1 }, 'the row')
    ok(heartbeatAt > was, 'a sign of life')
  },

  'a failed step is recorded, renews the lease and does not count': async (world) => {
    await create(world)
    await mustClaim(world)
    await world.env.advance(LEASE_MS + 1)
    await world.store.runs.reap({ maxRecoveries: 5 })
    const owner = await mustClaim(world)
    await world.env.advance(10_000)
    const verb = recordFailedStep(owner)
    deepEqual(await owner.write(verb), ACCEPTED, 'outcome')
    ok(verb.type === 'recordStep', 'the verb')
    deepEqual(await world.store.steps.list(owner.run.id), [verb.step], 'list()')
    const row = await get(world, owner.run.id)
    deepEqual([row.currentStepIndex, row.recoveries], [0, 1], 'index and recoveries')
    equal(row.leaseExpiresAt, world.env.wall() + LEASE_MS, 'the lease')
  },

  'a step may fail several times and then complete': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordFailedStep(owner, { index: 0 }))
    await owner.succeed(recordFailedStep(owner, { index: 0 }))
    await owner.succeed(recordStep(owner, { index: 0 }))
    const steps = await world.store.steps.list(owner.run.id)
    deepEqual(
      steps.map((step) => step.status),
      ['failed', 'failed', 'completed'],
      'list()',
    )
    equal((await get(world, owner.run.id)).currentStepIndex, 1, 'index')
  },

  'a step that is already completed is refused with everything attached to it': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner, { name: 'fetch', output: '"first"' }))
    const again = owner.next(recordStep(owner, { name: 'fetch', output: '"second"', index: 1 }), attachmentsOf(owner))
    deepEqual(await unchanged(world, owner.run.id, () => world.store.runs.apply([again])), [REFUSED], 'outcome')
    await owner.succeed(recordStep(owner, { name: 'another', index: 1 }))
  },

  'a step that another owner completed is refused': async (world) => {
    const first = await held(world)
    await first.succeed(recordStep(first, { name: 'fetch' }))
    await first.succeed(release())
    const owner = await mustClaim(world)
    deepEqual(await unchanged(world, owner.run.id, () => owner.write(recordStep(owner, { name: 'fetch' }))), REFUSED, 'outcome')
  },

  'the same step name in another run is another step': async (world) => {
    const one = await held(world, { jobName: 'one' })
    const other = await held(world, { jobName: 'other' })
    await one.succeed(recordStep(one, { name: 'fetch' }))
    await other.succeed(recordStep(other, { name: 'fetch' }))
    equal((await world.store.steps.list(one.run.id)).length, 1, 'steps of one')
    equal((await world.store.steps.list(other.run.id)).length, 1, 'steps of the other')
  },

  'steps are listed by index, then in the order they were recorded': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner, { name: 'c', index: 10 }))
    await owner.succeed(recordFailedStep(owner, { name: 'b', index: 2 }))
    await owner.succeed(recordStep(owner, { name: 'a', index: 9 }))
    await owner.succeed(recordStep(owner, { name: 'b', index: 2 }))
    const names = async (steps: Promise<{ name: string; status: string }[]>) => (await steps).map((step) => `${step.name} ${step.status}`)
    deepEqual(await names(world.store.steps.list(owner.run.id)), ['b failed', 'b completed', 'a completed', 'c completed'], 'list()')
  },

  'complete ends the run with its output': async (world) => {
    const owner = await held(world)
    await owner.succeed(recordStep(owner))
    const before = await get(world, owner.run.id)
    await world.env.advance(10)
    deepEqual(await owner.write(complete('{"n":3}')), ACCEPTED, 'outcome')
    const row = await get(world, owner.run.id)
    const ended = { status: 'completed' as const, output: '{"n":3}', leaseOwner: null, leaseExpiresAt: null, finishedAt: world.env.wall() }
    const counted = { version: before.version + 1, leaseWrites: 2, lastEventSequence: before.lastEventSequence + 1 }
    deepEqual(row, { ...before, ...ended, ...counted, updatedAt: row.updatedAt, heartbeatAt: row.heartbeatAt }, 'the row')
  },

  'fail ends the run with what is known about it': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    const verb = { type: 'fail', error: 'boom', failure: '{"name":"E"}', reason: 'output_invalid', failedStepName: '' } as const
    deepEqual(await owner.write(verb), ACCEPTED, 'outcome')
    const row = await get(world, owner.run.id)
    const failed = { status: 'failed' as const, error: 'boom', failure: '{"name":"E"}', reason: 'output_invalid' as const, output: null }
    const ended = { leaseOwner: null, leaseExpiresAt: null, finishedAt: world.env.wall() }
    const counted = { version: owner.run.version + 1, attempts: 1, leaseWrites: 1, lastEventSequence: owner.run.lastEventSequence + 1 }
    deepEqual(row, { ...owner.run, ...failed, ...ended, ...counted, updatedAt: row.updatedAt, heartbeatAt: row.heartbeatAt }, 'the row')
  },

  'release gives the run back without a penalty, and it keeps its place': async (world) => {
    const owner = await held(world)
    await world.env.advance(10)
    const younger = await create(world)
    await world.env.advance(10)
    deepEqual(await owner.write(release()), ACCEPTED, 'outcome')
    const row = await get(world, owner.run.id)
    const given = { status: 'pending' as const, leaseOwner: null, leaseExpiresAt: null }
    const counted = { version: owner.run.version + 1, leaseWrites: 1, lastEventSequence: owner.run.lastEventSequence + 1 }
    deepEqual(row, { ...owner.run, ...given, ...counted, updatedAt: row.updatedAt, heartbeatAt: row.heartbeatAt }, 'the row')
    equal((await mustClaim(world)).run.id, owner.run.id, 'the older one goes first')
    equal((await mustClaim(world)).run.id, younger.id, 'then the younger')
  },

  'abandon ends the run as cancelled': async (world) => {
    const owner = await held(world)
    await world.store.runs.cancel(owner.run.id)
    const before = await get(world, owner.run.id)
    await world.env.advance(10)
    deepEqual(await owner.write(abandon()), { ok: true, cancelRequested: true }, 'outcome')
    const row = await get(world, owner.run.id)
    const ended = { status: 'cancelled' as const, leaseOwner: null, leaseExpiresAt: null, finishedAt: world.env.wall() }
    const counted = { version: before.version + 1, leaseWrites: 1, lastEventSequence: before.lastEventSequence + 1 }
    deepEqual(row, { ...before, ...ended, ...counted, updatedAt: row.updatedAt, heartbeatAt: row.heartbeatAt }, 'the row')
  },

  'the answer to an owner write says whether a cancel was requested': async (world) => {
    const owner = await held(world)
    deepEqual(await owner.write(heartbeat()), ACCEPTED, 'before')
    await world.store.runs.cancel(owner.run.id)
    deepEqual(await owner.write(heartbeat()), { ok: true, cancelRequested: true }, 'a heartbeat after')
    deepEqual(await owner.write(recordStep(owner)), { ok: true, cancelRequested: true }, 'a step after')
  },

  'completed wins over a late cancel': async (world) => {
    const owner = await held(world)
    await world.store.runs.cancel(owner.run.id)
    deepEqual(await owner.write(complete()), { ok: true, cancelRequested: true }, 'outcome')
    equal((await get(world, owner.run.id)).status, 'completed', 'status')
  },

  'progress is replaced by the last one and left alone without one': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { progress: '{"current":1}' })
    await owner.succeed(recordStep(owner), { progress: '{"current":2}' })
    await owner.succeed(heartbeat())
    equal((await get(world, owner.run.id)).progress, '{"current":2}', 'progress')
    await owner.succeed(complete(), { progress: '{"current":3}' })
    equal((await get(world, owner.run.id)).progress, '{"current":3}', 'progress at the end')
  },

  'a retried run that completes leaves no trace of its failure': async (world) => {
    const first = await held(world)
    await first.succeed(fail())
    await world.store.runs.retry(first.run.id)
    const owner = await mustClaim(world)
    await owner.succeed(complete())
    const { error, failure, reason } = await get(world, owner.run.id)
    deepEqual({ error, failure, reason }, { error: null, failure: null, reason: null }, 'the failure')
  },

  'no writes need no answer': async (world) => {
    deepEqual(await world.store.runs.apply([]), [], 'outcomes')
  },

  'several writes of one run in one call are applied in their order': async (world) => {
    const owner = await held(world)
    const writes = [
      owner.next(recordStep(owner, { name: 'a' }), attachmentsOf(owner)),
      owner.next(recordFailedStep(owner, { name: 'b', index: 1 })),
      owner.next(recordStep(owner, { name: 'a', index: 2 }), attachmentsOf(owner)),
      owner.next(recordStep(owner, { name: 'b', index: 1 }), { progress: '{"current":9}' }),
      owner.next(complete(), attachmentsOf(owner)),
      owner.next(heartbeat(), attachmentsOf(owner)),
    ]
    deepEqual(await world.store.runs.apply(writes), [ACCEPTED, ACCEPTED, REFUSED, ACCEPTED, ACCEPTED, REFUSED], 'outcomes')
    const { run, steps, events, logs } = await everything(world, owner.run.id)
    deepEqual([run?.status, run?.currentStepIndex, run?.leaseWrites], ['completed', 2, 5], 'status, index and writes')
    equal(logs.length, 2, 'log lines')
    deepEqual(
      steps.map(({ name, status }) => `${name} ${status}`),
      ['a completed', 'b failed', 'b completed'],
      'steps',
    )
    deepEqual(
      events.slice(2).map(({ type }) => type),
      ['run:progress', 'log:write', 'step:complete', 'step:fail', 'step:complete', 'run:progress', 'log:write', 'run:complete'],
      'events',
    )
  },

  'of many writes each is accepted or refused alone, and answered in order': async (world) => {
    await world.store.runs.create(Array.from({ length: 60 }, () => newRun(world)))
    const owners: Owner[] = []
    for (let i = 0; i < 60; i++) owners.push(await mustClaim(world, [JOB]))
    const refused = new Set([0, 17, 59])
    const writes = owners.map((owner, i) => {
      const write = owner.next(i % 2 ? recordStep(owner) : complete(`${i}`), attachmentsOf(owner))
      return refused.has(i) ? { ...write, claim: { ...write.claim, token: 'not mine' } } : write
    })
    const before = new Map(await Promise.all([...refused].map(async (i) => [i, await everything(world, owners[i]?.run.id ?? '')] as const)))
    deepEqual(
      await world.store.runs.apply([...writes].reverse()),
      owners.map((_, i) => (refused.has(i) ? REFUSED : ACCEPTED)).reverse(),
      'outcomes',
    )
    for (const [i, owner] of owners.entries()) {
      const after = await everything(world, owner.run.id)
      if (refused.has(i)) deepEqual(after, before.get(i), 'a refused write wrote nothing')
      else deepEqual([after.events.length, after.logs.length], [5, 1], 'events and log lines of an accepted write')
    }
  },
})
