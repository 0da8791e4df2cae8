import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { type JobContext, retry } from '../../src/index.ts'
import { REAP_MAX } from '../../src/store/runs.ts'
import { faulty } from './faulty-store.ts'
import { freezable } from './freezable-env.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { setup, WORLDS, type World } from './world.ts'

const anything = z.unknown()

/** A job whose second step never ends; `steps` are recorded before it. */
function defineHanging(durably: Durably, steps = 1) {
  return durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    for (let i = 0; i < steps; i++) await ctx.run(`step ${i}`, () => ctx.progress(i + 1, 10))
    await ctx.run('hanging', () => new Promise<void>(() => {}))
  })
}

/** A worker that takes what it finds and is killed. */
async function dieWith({ another, env }: World, steps: number, maxRecoveries = 2): Promise<void> {
  const { wrap, faults } = faulty()
  const mortal = another({ maxRecoveries, wrap })
  defineHanging(mortal, steps)
  mortal.start()
  await env.advance(1000)
  faults.die()
}

describe.each(WORLDS)('takeover on %s', (world) => {
  test.each([
    ['whose slots are all taken', true],
    ['that has no jobs', false],
  ] as const)('a worker %s takes back what others lost, and removes what is old', async (_, isBusy) => {
    const here = await setup(world)
    const { durably, another, env } = here
    const job = defineHanging(durably)
    const old = await job.trigger(null)
    await durably.cancel(old.id)
    const { id } = await job.trigger(null)
    await dieWith(here, 1)
    const busy = another({ concurrency: 1, retention: '1m' })
    if (isBusy) {
      const long = busy.defineJob({ name: 'long', input: anything }, (ctx) => ctx.run('long', () => new Promise<void>(() => {})))
      await long.trigger(null)
    }
    busy.start()
    await env.advance(120_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', recoveries: 1 })
    expect(await durably.getRun(old.id)).toBe(null)
    expect(await durably.getRuns({ jobName: 'long' })).toHaveLength(isBusy ? 1 : 0)
  })

  test.each([1, 2])('a worker of %i slots that slept with its machine does not take its own run from itself', async (concurrency) => {
    const { durably, another, env } = await setup(world)
    const machine = freezable(env)
    const { wrap, faults } = faulty()
    const sleeper = another({ env: machine, concurrency, wrap })
    const { id } = await defineHanging(sleeper).trigger(null)
    sleeper.start()
    await env.advance(1000)
    machine.freeze()
    await env.advance(3_600_000)
    // Its first heartbeat is slower than its look for lost runs.
    const release = faults.hold('apply.heartbeat')
    machine.thaw()
    await env.advance(100)
    release()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running', recoveries: 0, phase: 'running' })
  })

  test.each([1000, 60_000])(
    'a killed worker’s run is taken over within staleThreshold + 1 s, progress and steps kept (000 §再開時の挙動), polling every %i ms',
    async (pollingInterval) => {
      const mortal = faulty()
      const { durably, another, env, store } = await setup(world, { wrap: mortal.wrap, staleThreshold: 8000 })
      const { id } = await defineHanging(durably).trigger(null)
      durably.start()
      await env.advance(6500)
      mortal.faults.die()
      const before = await store.runs.get(id)
      const lastSign = Date.parse(before?.heartbeatAt ?? '')

      const heir = another({ staleThreshold: 8000, pollingInterval })
      const heard = listenTo(heir)
      let takenAt = 0
      const ran: string[] = []
      heir.defineJob({ name: 'job', input: anything }, async (ctx) => {
        takenAt = env.wall()
        expect(await heir.getRun(id)).toMatchObject({ progress: { current: 1, total: 10 } })
        await ctx.run('step 0', () => void ran.push('step 0'))
        await ctx.run('hanging', () => void ran.push('hanging'))
      })
      heir.start()
      await env.advance(9000)

      expect(takenAt - lastSign).toBeLessThanOrEqual(9000)
      expect(ran).toEqual(['hanging'])
      expect(typesOf(heard).slice(0, 2)).toEqual(['run:reclaim', 'run:start'])
      expect(await heir.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 1, total: 10 } })
      expect(await store.runs.get(id)).toMatchObject({ startedAt: before?.startedAt, leaseGeneration: 2 })
    },
  )

  test('a worker that never runs out of work notices lost runs too, however rarely it polls', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const { id } = await defineHanging(durably).trigger(null)
    durably.start()
    await env.advance(1000)
    mortal.faults.die()

    const heir = another({ pollingInterval: 600_000, concurrency: 2 })
    heir.defineJob({ name: 'job', input: anything }, async () => 'taken over')
    const busy = heir.defineJob({ name: 'busy', input: anything }, async (ctx) => {
      await ctx.run('work', () => new Promise<void>((resolve) => void env.timer(400, resolve)))
      await busy.trigger(null)
    })
    await busy.batchTrigger([{ payload: 1 }, { payload: 2 }])
    heir.start()
    await env.advance(31_500)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 'taken over' })
  })

  test(`a backlog of more than ${REAP_MAX} lost runs is taken back at once`, async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap, concurrency: 120 })
    await defineHanging(durably, 0).batchTrigger(Array.from({ length: 120 }, () => ({ payload: null })))
    durably.start()
    await env.advance(1000)
    mortal.faults.die()
    const heir = another({ concurrency: 10 })
    heir.defineJob({ name: 'job', input: anything }, async () => {})
    heir.start()
    await env.advance(29_500)
    expect(await heir.getRuns({ status: 'completed' })).toHaveLength(120)
  })

  test('a lost run goes before younger ones: its place in the queue is its creation', async () => {
    const here = await setup(world)
    const { durably, env } = here
    const order: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (_, label) => void order.push(String(label)))
    await job.trigger('lost')
    await dieWith(here, 0)
    await env.advance(29_500)
    for (const label of ['a', 'b']) await job.trigger(label)
    durably.start()
    await env.advance(3000)
    expect(order).toEqual(['lost', 'a', 'b'])
  })
})

describe.each(WORLDS)('crash loops on %s', (world) => {
  test('a run that loses its worker more than maxRecoveries times in a row fails with reason crash_loop (ADR 0002)', async () => {
    const here = await setup(world, { maxRecoveries: 2 })
    const { durably, env } = here
    const heard = listenTo(durably)
    const { id } = await defineHanging(durably).trigger(null)
    for (let deaths = 0; deaths < 3; deaths++) {
      await dieWith(here, 0)
      await env.advance(30_000)
    }
    await here.within(5000, durably.processUntilIdle())
    const run = await durably.getRun(id)
    expect(run).toMatchObject({ status: 'failed', reason: 'crash_loop' })
    expect(run?.error).toContain('3 times in a row')
    expect(ofType(heard, 'run:fail')).toMatchObject([{ runId: id, failedStepName: '', error: run?.error }])
  })

  test.runIf(world === 'sqlite')('leases that a wrong clock takes back from the living do not count', async () => {
    const { durably, env, another } = await setup(world, { maxRecoveries: 2, concurrency: 2 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', () => new Promise<void>((resolve) => void env.timer(30_000, resolve))),
    )
    const hasty = another({ maxRecoveries: 2, env: { ...env, wall: () => env.wall() + 60_000 } })
    hasty.defineJob({ name: 'other', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    durably.start()
    hasty.start()
    await env.advance(60_000)
    expect((await durably.getRun(id))?.status).not.toBe('failed')
    expect(await hasty.getRun(id)).toMatchObject({ reason: null })
    await hasty.stop()
    await env.advance(60_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('one that was silent for a whole lease by its own clocks does not say that it was alive', async () => {
    const { env, another, store } = await setup(world)
    const frozen = freezable(env)
    const sleepy = another({ env: frozen })
    const { id } = await defineHanging(sleepy).trigger(null)
    sleepy.start()
    await env.advance(1000)
    frozen.freeze()
    await env.advance(31_000)
    await store.runs.reap({ maxRecoveries: 2 })
    frozen.thaw()
    await env.advance(0)
    expect((await store.runs.get(id))?.recoveries).toBe(1)
  })

  describe('a worker that has ended its lease itself does not undo the recovery of an earlier one', () => {
    /** A run that has lost its worker once, and the worker that executes it next. */
    async function recovered(run: (ctx: JobContext) => unknown) {
      const { wrap, faults } = faulty()
      const here = await setup(world, { wrap, maxRecoveries: 2 })
      const { durably, env, store } = here
      const { id } = await defineHanging(durably).trigger(null)
      await dieWith(here, 0)
      await env.advance(30_000)
      await store.runs.reap({ maxRecoveries: 2 })
      const worker = here.another({ wrap, maxRecoveries: 2 })
      worker.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: '1h' }) }, run)
      return { ...here, worker, faults, id, heard: listenTo(worker) }
    }

    test('when a step that was left behind returns after that', async () => {
      const began = gate()
      const late = gate()
      const codes: unknown[] = []
      const { worker, env, store, id, heard } = await recovered(async (ctx) => {
        const ignoresSignal = () => {
          began.open()
          return late.opened
        }
        ctx.run('left behind', ignoresSignal).catch((error) => codes.push(error.code))
        await began.opened
        throw new Error('the job fails')
      })
      worker.start()
      await env.advance(1000)
      expect(await store.runs.get(id)).toMatchObject({ status: 'pending', attempts: 1, recoveries: 1 })
      late.open()
      await env.advance(1000)
      expect(await store.runs.get(id)).toMatchObject({ status: 'pending', attempts: 1, recoveries: 1 })
      expect(codes).toEqual(['job_failed'])
      expect(ofType(heard, 'worker:error')).toEqual([])
    })

    test('when a heartbeat waited behind the write that ended it', async () => {
      const { worker, env, store, id, heard, faults } = await recovered((ctx) => ctx.waitFor('go'))
      const answer = faults.hold('apply.park')
      worker.start()
      await env.advance(6000)
      answer()
      await env.advance(1000)
      expect(await store.runs.get(id)).toMatchObject({ status: 'pending', recoveries: 1 })
      expect(ofType(heard, 'worker:error')).toEqual([])
    })

    test('when the answer to the write that ended it is lost, and another worker has the run by then', async () => {
      const { worker, env, store, id, faults, another } = await recovered((ctx) => ctx.waitFor('go'))
      const heir = another({ pollingInterval: 1 })
      defineHanging(heir, 0)
      faults.fail('apply.park', { when: 'after' })
      void worker.processOne()
      await env.idle()
      heir.start()
      await heir.signal(id, 'go', 'on')
      await env.advance(1000)
      expect(await store.runs.get(id)).toMatchObject({ status: 'running', recoveries: 1 })
    })
  })

  test('a newly recorded step starts the count again, so a run that gets on is never punished', async () => {
    const here = await setup(world, { maxRecoveries: 2 })
    const { durably, env } = here
    const { id } = await defineHanging(durably).trigger(null)
    for (let deaths = 1; deaths <= 6; deaths++) {
      await dieWith(here, Math.floor(deaths / 2))
      await env.advance(30_000)
    }
    expect(await durably.getRun(id)).toMatchObject({ status: 'running', currentStepIndex: 3 })
  })

  test('retry() gives it a new life, and Infinity is the seed to the letter', async () => {
    const here = await setup(world, { maxRecoveries: 0 })
    const { durably, env, another, within } = here
    const { id } = await defineHanging(durably).trigger(null)
    await dieWith(here, 0)
    await env.advance(30_000)
    await within(1000, durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'crash_loop' })
    expect(await durably.retry(id)).toMatchObject({ status: 'pending', recoveries: 0, reason: null })

    const patient = another({ maxRecoveries: Number.POSITIVE_INFINITY })
    let ran = 0
    patient.defineJob({ name: 'job', input: anything }, async () => void ran++)
    for (let deaths = 0; deaths < 4; deaths++) {
      await dieWith(here, 0, Number.POSITIVE_INFINITY)
      await env.advance(30_000)
    }
    await within(1000, patient.processUntilIdle())
    expect(ran).toBe(1)
  })
})
