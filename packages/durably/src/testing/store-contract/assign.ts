// A leader chooses the worker of each run, and a worker starts only what was chosen for it.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { assignedRun, assignNow, clusterOf, elect, LEAD_MS, WORKER_MS, workerEntry } from './cluster-world.ts'
import {
  ACCEPTED,
  claim,
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
  Owner,
  REFUSED,
  release,
  unchanged,
} from './world.ts'

const find = (world: World, limit = 10) => clusterOf(world).findUnassigned({ jobNames: [JOB], limit })

async function claimAssigned(world: World, workerId = 'worker a', wanted = 1): Promise<Owner[]> {
  const tokens = Array.from({ length: wanted }, () => world.env.id())
  const runs = await clusterOf(world).claimAssigned({ jobNames: [JOB], tokens, leaseMs: LEASE_MS, workerId })
  return runs.map((run) => new Owner(world, run, run.leaseOwner ?? ''))
}

export const assignChapter = chapter('assignments', {
  'due runs without a worker are found, the oldest first, one of each key': async (world) => {
    const [a, key, , b] = await createInTurn(world, [null, 'key', 'key', null])
    await create(world, { delayMs: 1000 })
    await create(world, { jobName: 'unknown to all' })
    deepEqual(ids(await find(world)), ids([a, key, b].flatMap((run) => run ?? [])), 'found')
    equal((await find(world, 2)).length, 2, 'with a limit')
    const [first] = await find(world)
    deepEqual(first, { id: a?.id ?? '', jobName: JOB, version: 0, preferWorkerId: null }, 'what is said of each')
  },

  'a key that is held, or whose run is assigned, hides the others': async (world) => {
    await held(world, { concurrencyKey: 'held' })
    await assignedRun(world, { concurrencyKey: 'assigned' })
    await createInTurn(world, ['held', 'assigned'])
    deepEqual(await find(world), [], 'found')
  },

  'a run that holds its key hides the others, and is itself assigned and started': async (world) => {
    const owner = await held(world, { concurrencyKey: 'key', holdKey: true })
    await owner.succeed(release())
    const other = await assignedRun(world, { concurrencyKey: 'key' })
    await create(world, { concurrencyKey: 'key' })
    deepEqual(await claimAssigned(world, 'worker a', 2), [], 'started before')
    deepEqual(ids(await find(world)), [owner.run.id], 'found, although another run of the key is assigned')
    equal(await assignNow(world, owner.run.id), true, 'assigned')
    const [again, ...others] = await claimAssigned(world, 'worker a', 2)
    deepEqual([again?.run.id, others.length], [owner.run.id, 0], 'started')
    await again?.succeed(complete())
    deepEqual(
      (await claimAssigned(world)).map(({ run }) => run.id),
      [other.id],
      'then',
    )
  },

  'a run is assigned: its row and its event say so': async (world) => {
    const { epoch, id } = await assignedRun(world)
    const run = await get(world, id)
    const { assignedWorkerId, assignedAt, assignCount, leaderEpoch, version, status } = run
    deepEqual(
      { assignedWorkerId, assignedAt, assignCount, leaderEpoch, version, status },
      { assignedWorkerId: 'worker a', assignedAt: world.env.wall(), assignCount: 1, leaderEpoch: epoch, version: 1, status: 'pending' },
      'the row',
    )
    const event = (await world.store.events.list(id)).at(-1)
    deepEqual([event?.type, JSON.parse(event?.payload ?? '')], ['run:assign', { workerId: 'worker a' }], 'the event')
    deepEqual(await find(world), [], 'runs without a worker')
    equal((await clusterOf(world).workers())[0]?.assigned, 1, 'the load of the worker')
  },

  'a run that has a worker, or was changed since it was read, is left alone': async (world) => {
    const { id } = await assignedRun(world)
    equal(await unchanged(world, id, () => assignNow(world, id)), false, 'assigned twice')
    const { id: other } = await create(world)
    const stale = { runId: other, version: 7, workerId: 'worker a' }
    deepEqual(
      await unchanged(world, other, async () => clusterOf(world).assign({ epoch: await elect(world), assignments: [stale] })),
      [],
      'assigned',
    )
  },

  'nothing is assigned to a worker that is unknown, draining, detached or silent': async (world) => {
    const cluster = clusterOf(world)
    const { id } = await create(world)
    const refused = async (why: string) => equal(await unchanged(world, id, () => assignNow(world, id)), false, why)
    await refused('unknown')
    await cluster.attend(workerEntry())
    for (const state of ['draining', 'detached'] as const) {
      await cluster.switchWorker('worker a', state)
      await refused(state)
    }
    await cluster.switchWorker('worker a', 'attached')
    await world.env.advance(WORKER_MS)
    await refused('silent')
    await cluster.attend(workerEntry())
    equal(await assignNow(world, id), true, 'when it is back')
  },

  'a leader that was replaced assigns nothing and takes nothing away': async (world) => {
    const { epoch, id } = await assignedRun(world)
    const { id: other } = await create(world)
    await world.env.advance(LEAD_MS + WORKER_MS)
    await clusterOf(world).attend(workerEntry())
    await elect(world, 'b')
    const assignments = [{ runId: other, version: 0, workerId: 'worker a' }]
    equal(await unchanged(world, other, () => clusterOf(world).assign({ epoch, assignments })), null, 'assigned')
    await clusterOf(world).leave(workerEntry())
    equal(await unchanged(world, id, () => clusterOf(world).orphan({ epoch, reassignAfterMs: 0 })), null, 'taken away')
  },

  'only the worker that was chosen starts the run, and its lease knows the epoch': async (world) => {
    const { epoch, id } = await assignedRun(world)
    deepEqual(await claimAssigned(world, 'worker b'), [], 'another worker')
    await create(world)
    const [owner, ...others] = await claimAssigned(world, 'worker a', 3)
    deepEqual([owner?.run.id, others.length], [id, 0], 'claimed')
    deepEqual([owner?.run.workerId, owner?.run.leaderEpoch, owner?.run.status], ['worker a', epoch, 'running'], 'the row')
    deepEqual(await claimAssigned(world), [], 'again')
  },

  'a claim that is sent again finds its runs': async (world) => {
    const { id } = await assignedRun(world)
    const request = { jobNames: [JOB], tokens: ['token'], leaseMs: LEASE_MS, workerId: 'worker a' }
    const [first] = await clusterOf(world).claimAssigned(request)
    deepEqual([first?.id, await clusterOf(world).claimAssigned(request)], [id, [first]], 'both answers')
  },

  'of one key, one run is started at a time': async (world) => {
    const { id } = await assignedRun(world, { concurrencyKey: 'key' })
    const other = await create(world, { concurrencyKey: 'key' })
    await assignNow(world, other.id)
    const [owner, ...others] = await claimAssigned(world, 'worker a', 2)
    deepEqual([owner?.run.id, others.length], [id, 0], 'claimed')
    await owner?.succeed(complete())
    deepEqual(
      (await claimAssigned(world)).map(({ run }) => run.id),
      [other.id],
      'then',
    )
  },

  'an end is refused if the epoch of the run is another than that of the claim': async (world) => {
    await assignedRun(world)
    const [owner] = await claimAssigned(world)
    ok(owner, 'claimed')
    const older = new Owner(world, { ...owner.run, leaderEpoch: (owner.run.leaderEpoch ?? 0) - 1 }, owner.claim.token)
    deepEqual(await unchanged(world, owner.run.id, () => older.write(complete())), REFUSED, 'complete')
    deepEqual(await unchanged(world, owner.run.id, () => older.write(fail())), REFUSED, 'fail')
    deepEqual(await owner.write(heartbeat()), ACCEPTED, 'the owner goes on')
    deepEqual(await owner.write(complete()), ACCEPTED, 'and ends')
  },

  'what does not start is taken from a worker that is gone, and only then': async (world) => {
    const { epoch, id } = await assignedRun(world)
    const orphan = () => clusterOf(world).orphan({ epoch, reassignAfterMs: 20_000 })
    await world.env.advance(20_000)
    await clusterOf(world).attend(workerEntry())
    deepEqual(await orphan(), [], 'while the worker is there')
    await clusterOf(world).switchWorker('worker a', 'detached')
    deepEqual(await orphan(), [{ id, jobName: JOB, workerId: 'worker a' }], 'when it is detached')
    const { assignedWorkerId, assignedAt, assignCount } = await get(world, id)
    deepEqual([assignedWorkerId, assignedAt !== null, assignCount], [null, true, 1], 'the row')
    equal((await eventTypes(world, id)).at(-1), 'run:orphan', 'the event')
    deepEqual(ids(await find(world)), [id], 'it is to be assigned again')
    await clusterOf(world).attend(workerEntry({ id: 'worker b', token: 'process b' }))
    equal(await assignNow(world, id, 'worker b'), true, 'assigned again')
    equal((await get(world, id)).assignCount, 2, 'how often it was assigned')
    deepEqual(await claimAssigned(world), [], 'what the first one starts')
  },

  'a run that was assigned just now is not taken away': async (world) => {
    const { epoch } = await assignedRun(world)
    await clusterOf(world).leave(workerEntry())
    await world.env.advance(19_999)
    deepEqual(await clusterOf(world).orphan({ epoch, reassignAfterMs: 20_000 }), [], 'before its time')
  },

  'a run that comes back to pending has no worker any more': async (world) => {
    const { id } = await assignedRun(world)
    const [owner] = await claimAssigned(world)
    await owner?.succeed(release())
    const { assignedWorkerId, assignedAt } = await get(world, id)
    deepEqual([assignedWorkerId, assignedAt], [null, null], 'after a release')
    await assignNow(world, id)
    await claimAssigned(world)
    await world.env.advance(LEASE_MS)
    await world.store.runs.reap({ maxRecoveries: 10 })
    const taken = await get(world, id)
    deepEqual([taken.assignedWorkerId, taken.assignedAt, taken.assignCount], [null, null, 2], 'after a lost worker')
  },

  'a run that is assigned can be cancelled': async (world) => {
    const { id } = await assignedRun(world)
    equal((await world.store.runs.cancel(id))?.outcome, 'cancelled', 'outcome')
    deepEqual([(await get(world, id)).assignedWorkerId, await claimAssigned(world)], [null, []], 'its worker')
  },

  'a worker that claims for itself takes runs that are assigned, too': async (world) => {
    const { id } = await assignedRun(world)
    equal((await claim(world))?.run.id, id, 'the claimed run')
    deepEqual(await claimAssigned(world), [], 'what is left for the worker')
  },
})
