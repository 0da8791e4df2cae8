// A store without an event log counts the events that it would have logged, and does everything else as usual.
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { checkCoherence } from './coherence.ts'
import { chunk, ends, open } from './streaming.ts'
import {
  abandon,
  attachmentsOf,
  claimUpTo,
  complete,
  create,
  fail,
  heartbeat,
  JOB,
  LEASE_MS,
  leasesEnd,
  newRun,
  type Owner,
  recordFailedStep,
  recordStep,
  release,
} from './world.ts'

export const withoutEventLog = chapter('without an event log', {
  'every verb answers and stores the same as with an event log': async (world) => {
    const start = world.env.wall()
    const silent = await silentStore(world)
    equal(silent.eventLog, false, 'eventLog')
    const lived = await life({ ...world, store: silent })
    await checkCoherence(silent)
    world.env.set(start)
    deepEqual(lived, await life({ ...world, store: memoryStore({ env: world.env }) }), 'a whole life')
  },

  'writes that are sent again have the effect of once without an event log': async (world) => {
    const silent = { ...world, store: await silentStore(world) }
    await silent.store.runs.create(Array.from({ length: 3 }, () => newRun(world)))
    const owners = await claimUpTo(3, silent)
    const writes = owners.flatMap((owner) => [
      owner.next(heartbeat(), { ...attachmentsOf(owner), events: [chunk(owner, 'a', 0)] }),
      owner.next(ends(recordStep(owner, { name: 'a' })), { ...attachmentsOf(owner), events: [chunk(owner, 'a', 0)] }),
    ])
    const first = await silent.store.runs.apply(writes)
    const before = await kept(silent)
    for (const write of writes) await silent.store.runs.apply([write])
    deepEqual(await silent.store.runs.apply(writes), first, 'outcomes')
    deepEqual(await kept(silent), before, 'nothing was written')
  },

  'claims that are sent again have the effect of once without an event log': async (world) => {
    const silent = { ...world, store: await silentStore(world) }
    await silent.store.runs.create(Array.from({ length: 3 }, () => newRun(world)))
    for (const owner of await claimUpTo(3, silent)) await owner.succeed(release(), { streams: open(['a', 1], ['b', 2]) })
    const request = { jobNames: [JOB], tokens: ['t1', 't2'], leaseMs: LEASE_MS }
    const first = await silent.store.runs.claim(request)
    deepEqual(
      first.map((run) => run.lastEventSequence),
      [6, 6],
      'counters with a start and two resets',
    )
    deepEqual(await silent.store.runs.claim(request), first, 'the second answer')
  },
})

async function silentStore({ withoutEventLog }: World): Promise<Store> {
  ok(withoutEventLog, 'the setup can open a store without an event log')
  return withoutEventLog()
}

/** All verbs, with every answer. Ids are numbered in the order in which they occur. */
async function life(world: World): Promise<unknown> {
  const { runs } = world.store
  const story: unknown[] = []
  const record = async <T>(answer: Promise<T>): Promise<T> => {
    story.push(await answer)
    return answer
  }
  await record(runs.create([newRun(world, { idempotencyKey: 'k' }), ...Array.from({ length: 7 }, () => newRun(world))]))
  await record(runs.create([newRun(world, { idempotencyKey: 'k' })]))
  const owners = await claimUpTo(6, world)
  story.push(owners.map((owner) => owner.run))
  const write = (verbs: (owner: Owner, i: number) => Parameters<Owner['next']>[0]) =>
    record(
      runs.apply(owners.map((owner, i) => owner.next(verbs(owner, i), { ...attachmentsOf(owner), streams: open(['a', 2], ['b', 0]) }))),
    )
  await write((owner, i) => (i % 2 ? recordStep(owner) : recordFailedStep(owner)))
  await write((owner, i) => (i === 0 ? heartbeat() : ends(recordStep(owner, { name: 'stream', index: 1 }))))
  await write((_, i) => [complete(), fail(), release(), abandon()][i] ?? heartbeat())
  const [, failed, released, , fifth] = owners
  await record(runs.retry(failed?.run.id ?? ''))
  await record(runs.cancel(released?.run.id ?? ''))
  await record(runs.cancel(fifth?.run.id ?? ''))
  await leasesEnd(world)
  await record(runs.reap({ maxRecoveries: 10 }))
  story.push((await claimUpTo(2, world)).map((owner) => owner.run))
  await leasesEnd(world)
  await record(runs.reap({ maxRecoveries: 0 }))
  await record(runs.delete(released?.run.id ?? ''))
  await record(runs.probe([JOB]))
  await create(world, { concurrencyKey: 'c' })
  return namedByTurn({ story, kept: await kept(world) })
}

async function kept({ store }: World) {
  const runs = await store.runs.list({})
  const ids = runs.map((run) => run.id)
  const heads = await store.events.heads(ids)
  const events = await Promise.all(ids.map((id) => store.events.list(id)))
  if (!store.eventLog) deepEqual(events.flat(), [], 'events')
  const rows = runs.map(async (run) => ({
    run,
    head: heads.get(run.id),
    steps: await store.steps.list(run.id),
    logs: await store.logs.list(run.id),
  }))
  return Promise.all(rows)
}

function namedByTurn(value: unknown): unknown {
  const names: string[] = []
  const text = JSON.stringify(value).replace(/\b[0-9A-Z]{26}\b/g, (id) => {
    if (!names.includes(id)) names.push(id)
    return `id ${names.indexOf(id)}`
  })
  return JSON.parse(text)
}
