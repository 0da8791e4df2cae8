// Many workers on one database: the register, and a leader that chooses the worker of each run.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ClusterOptions, cluster, clusterState } from '../../src/cluster.ts'
import type { Durably } from '../../src/durably.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type World } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('on %s', (name) => {
  /** Workers that all have the same job, whose runs end when they are let go. */
  async function fleetOf(ids: readonly string[], options: ClusterOptions & { runsOn?: Record<string, string> } = {}) {
    const { runsOn, ...clusterOptions } = options
    const world = await setup(name, { workerId: 'client', concurrency: 2 })
    const done = gate()
    const executed: string[] = []
    const define = (durably: Durably, workerId: string) =>
      durably.defineJob({ name: 'job', input: anything, ...(runsOn && { runsOn }) }, (ctx) =>
        ctx.run('work', async () => {
          executed.push(workerId)
          await done.opened
        }),
      )
    const job = define(world.durably, 'client')
    const started = ids.map((workerId) => start(world, define, workerId, clusterOptions))
    const fleet = cluster(world.durably)
    return { ...world, job, fleet, done, executed, started, workerOf: (id: string) => started.find((one) => one.workerId === id)?.durably }
  }

  function start(world: World, define: (durably: Durably, id: string) => unknown, workerId: string, options: ClusterOptions) {
    const durably = world.another({ workerId, concurrency: 2 })
    define(durably, workerId)
    cluster(durably, { ...options, ...(workerId.startsWith('gpu') && { labels: { gpu: 'yes' } }) })
    durably.start()
    return { workerId, durably }
  }

  test('workers are in the register, and leave it when they stop', async () => {
    const { fleet, env, workerOf } = await fleetOf(['a', 'b'], { version: 'v7' })
    await env.advance(2000)
    expect(await fleet.workers()).toMatchObject([
      { id: 'a', state: 'attached', isSilent: false, capacity: 2, jobNames: ['job'], version: 'v7', running: 0, assigned: 0 },
      { id: 'b', state: 'attached' },
    ])
    await workerOf('a')?.stop()
    expect((await fleet.workers()).map(({ id }) => id)).toEqual(['b'])
  })

  test('a worker may have as many slots as it likes', async () => {
    const { another, fleet, env } = await fleetOf([])
    const durably = another({ workerId: 'large', concurrency: Number.MAX_SAFE_INTEGER })
    durably.defineJob({ name: 'job', input: z.unknown() }, async () => {})
    cluster(durably)
    durably.start()
    await env.advance(2000)
    expect(await fleet.workers()).toMatchObject([{ id: 'large', capacity: 2 ** 31 - 1 }])
  })

  test('an instance that has led before it joins executes runs as a worker of the register', async () => {
    const { durably, another, env, within } = await setup(name)
    const worker = another({ workerId: 'a' })
    const job = worker.defineJob({ name: 'job', input: anything }, async () => {})
    await worker.schedule({ job, every: '1s' })
    await env.advance(1500)
    await within(2000, worker.processUntilIdle())
    const fleet = cluster(worker)
    worker.start()
    const { id } = await job.trigger(null)
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: 'a' })
    expect(await fleet.workers()).toMatchObject([{ id: 'a', state: 'attached' }])
  })

  test('a worker that is stopped while it looks for work does not come back into the register', async () => {
    const slow = faulty()
    const { durably, another, env, within } = await setup(name)
    const fleet = cluster(durably)
    const worker = another({ workerId: 'a', wrap: slow.wrap })
    const job = worker.defineJob({ name: 'job', input: anything }, async () => {})
    cluster(worker)
    worker.start()
    await env.advance(3000)
    expect(await fleet.workers()).toMatchObject([{ id: 'a' }])
    const answer = slow.faults.hold('runs.probe')
    await env.advance(3000)
    const stopped = worker.stop()
    await env.advance(50)
    answer()
    await within(2000, stopped)
    expect(await fleet.workers()).toEqual([])
    const { id } = await job.trigger(null)
    await within(2000, worker.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a worker that is stopped and started again executes at once', async () => {
    const { job, env, durably, done, workerOf } = await fleetOf(['a'])
    done.open()
    await env.advance(2000)
    await workerOf('a')?.stop()
    workerOf('a')?.start()
    const { id } = await job.trigger(null)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: 'a' })
  })

  test('a leader shares the runs out by room, and each worker executes only its own', async () => {
    const { job, env, durably, done, executed } = await fleetOf(['a', 'b', 'c'], { dispatch: 'leader' })
    await env.advance(2000)
    const ids = (await job.batchTrigger(Array.from({ length: 6 }, () => ({ payload: null })))).map(({ id }) => id)
    await env.advance(3000)
    expect(executed.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    for (const id of ids) {
      const events: string[] = []
      const run = await durably.getRun(id)
      for (const { type, payload } of await eventsOf(durably, id)) if (type === 'run:assign') events.push(payload)
      expect(events).toEqual([run?.workerId])
    }
    done.open()
    await env.advance(3000)
    expect((await durably.getRuns({ status: 'completed' })).length).toBe(6)
  })

  test('with more runs than room, each waits as assigned or pending, and all are executed', async () => {
    const { job, env, durably, done, executed } = await fleetOf(['a'], { dispatch: 'leader' })
    await env.advance(2000)
    await job.batchTrigger(Array.from({ length: 10 }, () => ({ payload: null })))
    await env.advance(3000)
    expect(await durably.countsByPhase()).toMatchObject({ running: 2, assigned: 2, pending: 6 })
    expect((await durably.getRuns({ phase: 'assigned' })).map(clusterState)).toEqual(['ASSIGNED', 'ASSIGNED'])
    expect((await durably.getRuns({ clusterState: 'ASSIGNED' })).length).toBe(2)
    done.open()
    await env.advance(10_000)
    expect((await durably.getRuns({ status: 'completed' })).length).toBe(10)
    expect(executed.length).toBe(10)
  })

  test.each(['claim', 'leader'] as const)('with dispatch %s a run goes to the worker that it prefers', async (dispatch) => {
    const { job, env, durably, done } = await fleetOf(['a', 'b', 'c'], { dispatch })
    done.open()
    await env.advance(2000)
    for (const preferWorkerId of ['c', 'b', 'a', 'b', 'c']) {
      const { id } = await job.trigger(null, { preferWorkerId, concurrencyKey: 'session' })
      await env.advance(3000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: preferWorkerId })
    }
  })

  test.each(['claim', 'leader'] as const)('with dispatch %s a run does not wait long for a worker without room', async (dispatch) => {
    const { job, env, durably } = await fleetOf(['a', 'b'], { dispatch, preferFor: '5s' })
    await env.advance(2000)
    const runs = await job.batchTrigger(Array.from({ length: 3 }, () => ({ payload: null, options: { preferWorkerId: 'a' } })))
    await env.advance(3000)
    expect((await durably.getRuns({ status: 'running' })).map(({ workerId }) => workerId)).toEqual(
      dispatch === 'leader' ? ['b', 'a', 'a'] : ['a', 'a'],
    )
    await env.advance(4000)
    expect((await durably.getRuns({ status: 'running' })).length).toBe(runs.length)
  })

  test('a run does not wait for a worker that has stopped, nor long for one that was killed', async () => {
    const { job, env, durably, done, store, workerOf } = await fleetOf(['a', 'b'], { preferFor: '4s' })
    done.open()
    await env.advance(2000)
    const dead = { id: 'dead', token: 'dead', labels: '{}', capacity: 9, jobNames: '["job"]', version: null, lastsMs: 60_000 }
    await store.cluster?.attend(dead)
    await workerOf('a')?.stop()
    const stopped = await job.trigger(null, { preferWorkerId: 'a' })
    const killed = await job.trigger(null, { preferWorkerId: 'dead' })
    await env.advance(1500)
    expect([(await durably.getRun(stopped.id))?.status, (await durably.getRun(killed.id))?.status]).toEqual(['completed', 'pending'])
    await env.advance(4000)
    expect(await durably.getRun(killed.id)).toMatchObject({ status: 'completed', workerId: 'b' })
  })

  test('what was chosen for a worker that died gets another one', async () => {
    const { job, env, durably, done, store, fleet } = await fleetOf(['b'], { dispatch: 'leader' })
    await env.advance(2000)
    const dead = {
      id: 'a',
      token: 'of a process that was killed',
      labels: '{}',
      capacity: 100,
      jobNames: '["job"]',
      version: null,
      lastsMs: 15_000,
    }
    await store.cluster?.attend(dead)
    const { id } = await job.trigger(null)
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'assigned', status: 'pending' })
    expect((await durably.explain(id)).text).toContain('is assigned to worker "a", which has not started it')
    expect((await fleet.workers())[0]).toMatchObject({ id: 'a', assigned: 1 })
    done.open()
    await env.advance(25_000)
    expect((await fleet.workers())[0]).toMatchObject({ id: 'a', isSilent: true })
    await env.advance(15_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: 'b' })
    expect((await eventsOf(durably, id)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['run:assign', 'run:orphan', 'run:assign', 'run:start']),
    )
  })

  test('a leader that stops is replaced, and runs go on being assigned', async () => {
    const { job, env, durably, done, workerOf } = await fleetOf(['a', 'b'], { dispatch: 'leader' })
    done.open()
    await env.advance(2000)
    const leader = (await durably.leader())?.workerId ?? ''
    await workerOf(leader)?.stop()
    await job.trigger(null)
    await env.advance(12_000)
    expect((await durably.leader())?.workerId).not.toBe(leader)
    expect((await durably.getRuns({ status: 'completed' })).length).toBe(1)
  })

  test.each(['claim', 'leader'] as const)(
    '%s: a worker that is drained gets no more, one that is attached again does',
    async (dispatch) => {
      const { job, env, durably, done, fleet, executed } = await fleetOf(['a'], { dispatch })
      done.open()
      await env.advance(2000)
      await fleet.drain('a')
      await env.advance(6000)
      await job.trigger(null)
      await env.advance(6000)
      expect(executed).toEqual([])
      await fleet.attach('a')
      await env.advance(8000)
      expect((await durably.getRuns({ status: 'completed' })).length).toBe(1)
    },
  )

  test('a worker that takes runs by itself and is drained still executes what a leader chose for it', async () => {
    const { job, env, durably, done, fleet, another } = await fleetOf(['gpu a'], { dispatch: 'claim', runsOn: { gpu: 'yes' } })
    await env.advance(2000)
    await job.batchTrigger([{ payload: null }, { payload: null }])
    await env.advance(6000)
    const leading = another({ workerId: 'leader' })
    leading.defineJob({ name: 'job', input: anything, runsOn: { gpu: 'yes' } }, () => 'never here')
    cluster(leading, { dispatch: 'leader' })
    leading.start()
    const { id } = await job.trigger(null)
    await env.advance(6000)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'assigned' })
    await fleet.drain('gpu a')
    await env.advance(6000)
    done.open()
    await env.advance(6000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: 'gpu a' })
  })

  test.each(['claim', 'leader'] as const)('%s: a job with runsOn is executed only where its labels are', async (dispatch) => {
    const { job, env, executed, done } = await fleetOf(['a', 'gpu b'], { dispatch, runsOn: { gpu: 'yes' } })
    done.open()
    await env.advance(2000)
    for (let i = 0; i < 3; i++) await job.trigger(null)
    await env.advance(8000)
    expect(executed).toEqual(['gpu b', 'gpu b', 'gpu b'])
  })

  test('a run that is assigned can be cancelled, and is not started', async () => {
    const { job, env, durably, store, executed } = await fleetOf(['b'], { dispatch: 'leader' })
    await env.advance(2000)
    const big = { id: 'a', token: 'a', labels: '{}', capacity: 100, jobNames: '["job"]', version: null, lastsMs: 15_000 }
    await store.cluster?.attend(big)
    const { id } = await job.trigger(null)
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'assigned' })
    expect(await durably.cancel(id)).toBe('cancelled')
    await env.advance(40_000)
    expect(executed).toEqual([])
  })

  test('a live database can be switched from one way of dispatching to the other', async () => {
    const { job, env, durably, done, another, workerOf } = await fleetOf(['a'], { dispatch: 'leader' })
    done.open()
    await env.advance(2000)
    await workerOf('a')?.stop()
    const ids = (await job.batchTrigger(Array.from({ length: 3 }, () => ({ payload: null })))).map(({ id }) => id)
    const claiming = another({ workerId: 'c' })
    claiming.defineJob({ name: 'job', input: anything }, () => 'claimed')
    claiming.start()
    await env.advance(5000)
    for (const id of ids) expect(await durably.getRun(id)).toMatchObject({ status: 'completed', workerId: 'c' })
  })

  test('two processes with one name: the second is told, and starts nothing', async () => {
    const { job, env, another, executed, done } = await fleetOf(['a'])
    await env.advance(2000)
    const twin = another({ workerId: 'a' })
    const heard: string[] = []
    twin.on('worker:error', ({ error }) => heard.push(error))
    twin.defineJob({ name: 'job', input: anything }, () => void executed.push('twin'))
    cluster(twin)
    twin.start()
    done.open()
    await env.advance(2000)
    for (let i = 0; i < 3; i++) await job.trigger(null)
    await env.advance(5000)
    expect(executed).toEqual(['a', 'a', 'a'])
    expect(heard[0]).toBe('another process is attached as worker "a"; give each its own workerId')
  })
})

async function eventsOf(durably: Durably, id: string) {
  const events: { type: string; payload: string }[] = []
  const until = (await durably.getRun(id))?.lastEventSequence ?? 0
  for await (const event of durably.subscribe(id)) {
    events.push({ type: event.type, payload: 'workerId' in event ? (event.workerId ?? '') : '' })
    if (event.sequence >= until) break
  }
  return events
}

test('bad input is refused clearly', async () => {
  const { durably } = await setup('memory')
  expect(() => cluster(durably, { dispatch: 'both' as 'claim' })).toThrow(`dispatch must be 'claim' or 'leader', got "both"`)
  expect(() => cluster(durably, { reassign: 1 } as ClusterOptions)).toThrow(
    /cluster has no option "reassign"; did you mean "reassignAfter"/,
  )
  expect(() => cluster(durably, { labels: { gpu: 1 } as unknown as Record<string, string> })).toThrow(/label "gpu" must be a string/)
  await expect(cluster(durably).drain('nobody')).rejects.toMatchObject({ code: 'worker_not_found' })
  durably.start()
  expect(() => cluster(durably)).toThrow('cluster() must be called before start()')
})
