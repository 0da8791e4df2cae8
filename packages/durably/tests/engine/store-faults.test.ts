// An infrastructure error is never a job failure (R6), and a write whose outcome is unknown takes effect once (R3).
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { DurablyEvent } from '../../src/model/event.ts'
import type { JobContext } from '../../src/model/job.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { type CallName, faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, next, ofType, typesOf } from './listening.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()
const ALWAYS = Number.POSITIVE_INFINITY

/** Two steps, counted; with a store that can fail. */
async function counted(name: WorldName) {
  const { wrap, faults } = faulty()
  const world = await setup(name, { wrap })
  const ran: string[] = []
  const job = world.durably.defineJob({ name: 'job', input: z.boolean() }, async (ctx, bad) => {
    await ctx.run('one', () => void ran.push('one'))
    await ctx.run('two', () => void ran.push('two'))
    if (bad) throw new Error('its own fault')
    return 'done'
  })
  return { ...world, faults, ran, job, heard: listenTo(world.durably) }
}

function codesOf(heard: readonly DurablyEvent[]): unknown[] {
  return [...new Set(ofType(heard, 'worker:error').map(({ cause }) => (cause as { code: string }).code))]
}

const WRITES: readonly CallName[] = ['apply.recordStep', 'apply.complete', 'runs.claim']

describe.each(WORLDS)('faults of the store on %s', (world) => {
  describe('a run that was given back, and taken by another process before its worker knew, is no trouble', () => {
    async function generous(name: CallName, run: (ctx: JobContext) => unknown) {
      const { wrap, faults } = faulty()
      const { durably, another, ...rest } = await setup(world, { wrap })
      const heir = another({ pollingInterval: 1 })
      const define = (instance: Durably) =>
        instance.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 0 }) }, run)
      define(heir)
      const { id } = await define(durably).trigger(null)
      faults.fail(name, { when: 'after' })
      return { ...rest, durably, heir, id, heard: listenTo(durably) }
    }

    test('parked', async () => {
      const { durably, heir, env, id, heard } = await generous('apply.park', (ctx) => ctx.waitFor('go'))
      void durably.processOne()
      await env.idle()
      heir.start()
      await heir.signal(id, 'go', 'on')
      await env.advance(1000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'on', recoveries: 0 })
      expect(codesOf(heard)).toEqual(['store_unavailable'])
    })

    test('to be tried again', async () => {
      const { durably, heir, env, id, heard } = await generous('apply.retryLater', ({ attempt }) => {
        if (attempt === 1) throw new Error('bad')
      })
      void durably.processOne()
      await env.idle()
      heir.start()
      await env.advance(1000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', attempts: 1, recoveries: 0 })
      expect(codesOf(heard)).toEqual(['store_unavailable'])
    })

    test('released', async () => {
      const stopped = gate()
      const { durably, heir, env, id, heard, within } = await generous('apply.release', (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.open())
        return ctx.run('work', ({ attempt: _, signal }) => stopped.opened.then(() => signal.throwIfAborted()))
      })
      durably.start()
      await env.advance(1)
      heir.start()
      await within(1000, durably.stop({ timeout: 0 }))
      await env.advance(1000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
      expect(codesOf(heard)).toEqual(['store_unavailable'])
    })

    test('parked, and taken by the same one', async () => {
      const { wrap, faults } = faulty()
      const { durably, env } = await setup(world, { wrap, concurrency: 2 })
      const heard = listenTo(durably)
      const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('go'))
      const { id } = await job.trigger(null)
      faults.fail('apply.park', { when: 'after', times: ALWAYS })
      durably.start()
      await env.advance(1)
      await durably.signal(id, 'go', 'on')
      await env.advance(10_000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'on', recoveries: 0 })
      expect(codesOf(heard)).toEqual(['store_unavailable'])
    })
  })

  test('a store that is silent while a run is parked loses the lease, and that is reported', async () => {
    const { durably, faults, env, heard } = await counted(world)
    const job = durably.defineJob({ name: 'waits', input: anything }, (ctx) => ctx.waitFor('go'))
    await job.trigger(null)
    faults.fail('apply.park', { when: 'silent' })
    durably.start()
    await env.advance(40_000)
    expect(codesOf(heard)).toEqual(['lease_lost'])
  })

  describe.each(['before', 'after'] as const)('that strike %s the effect', (when) => {
    test.each(WRITES)('%s is sent again and takes effect once; the run completes (peer P34, P35)', async (name) => {
      const { durably, store, faults, ran, job, heard, within } = await counted(world)
      faults.fail(name, { when })
      faults.fail(name, { when, times: 2 })
      const { id } = await job.trigger(false)
      durably.start()
      await within(5000, next(durably, 'run:complete'))

      expect(ran).toEqual(['one', 'two'])
      expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 'done', error: null, currentStepIndex: 2 })
      expect((await store.steps.list(id)).map((step) => `${step.name} ${step.status}`)).toEqual(['one completed', 'two completed'])
      const log = typesOf(await store.events.list(id))
      const expected = ['run:trigger', 'run:start', 'step:start', 'step:complete', 'step:start', 'step:complete', 'run:complete']
      expect(log).toEqual(expected)
      expect(typesOf(heard).filter((type) => type !== 'worker:error')).toEqual(expected)
      expect(ofType(heard, 'worker:error').length).toBeGreaterThanOrEqual(when === 'after' && name === 'runs.claim' ? 0 : 3)
    })

    test('a failure is recorded once, with the job’s own error', async () => {
      const { durably, store, faults, job, within } = await counted(world)
      faults.fail('apply.fail', { when, times: 3 })
      const { id } = await job.trigger(true)
      await within(5000, durably.processUntilIdle())
      expect(await job.getRun(id)).toMatchObject({ status: 'failed', error: 'its own fault' })
      expect(typesOf(await store.events.list(id)).filter((type) => type === 'run:fail')).toHaveLength(1)
    })

    test('a run is released once by a stopping worker', async () => {
      const { durably, store, faults, env, within } = await counted(world)
      const job = durably.defineJob({ name: 'waits', input: anything }, (ctx) =>
        ctx.run('wait', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
      )
      faults.fail('apply.release', { when, times: 2 })
      const { id } = await job.trigger(null)
      durably.start()
      await env.advance(10)
      await within(1000, durably.stop({ timeout: 1 }))
      await env.advance(1000)
      expect(await store.runs.get(id)).toMatchObject({ status: 'pending', leaseGeneration: 1 })
      expect(typesOf(await store.events.list(id)).filter((type) => type === 'run:release')).toHaveLength(1)
    })

    test('a trigger rejects with the store’s code, and its key makes it safe to call again', async () => {
      const { durably, faults, job } = await counted(world)
      faults.fail('runs.create', { when })
      const options = { idempotencyKey: 'once' }
      await expect(job.trigger(false, options)).rejects.toMatchObject({ code: 'store_unavailable' })
      const run = await job.trigger(false, options)
      expect(await durably.getRuns()).toMatchObject([{ id: run.id }])
    })
  })

  test('a claim whose reply and whose lookup fail is adopted later, and its steps run once', async () => {
    const { durably, faults, ran, job, within } = await counted(world)
    faults.fail('runs.claim', { when: 'after' })
    faults.fail('runs.adopt', { when: 'before', times: 4 })
    const { id } = await job.trigger(false)
    durably.start()
    await within(10_000, next(durably, 'run:complete'))
    expect(ran).toEqual(['one', 'two'])
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
    expect(faults.count('runs.claim')).toBeLessThanOrEqual(3)
  })

  test.each(['runs.claim', 'runs.probe'] as const)(
    'a %s that fails for ever backs off, is told, and ends when the store is back (peer P10)',
    async (name) => {
      const { durably, faults, job, heard, env } = await counted(world)
      const { id } = await job.trigger(false)
      faults.fail(name, { when: 'before', times: ALWAYS })
      durably.start()
      await env.advance(60_000)
      const attempts = faults.count(name)
      expect(attempts).toBeGreaterThan(30)
      expect(attempts).toBeLessThan(200)
      expect(ofType(heard, 'worker:error').length).toBeGreaterThan(30)
      expect(ofType(heard, 'worker:error')[0]).toMatchObject({ runId: null, cause: { code: 'store_unavailable' } })
      faults.heal()
      await env.advance(2000)
      expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
    },
  )

  test('trigger does not shorten the pause of a worker whose store is down', async () => {
    const { durably, faults, job, env } = await counted(world)
    faults.fail('runs.probe', { when: 'before', times: ALWAYS })
    durably.start()
    await env.advance(10_000)
    const before = faults.count('runs.probe')
    for (let i = 0; i < 100; i++) {
      await job.trigger(false)
      await env.idle()
    }
    expect(faults.count('runs.probe') - before).toBeLessThanOrEqual(1)
  })

  test('recorded steps that cannot be read at once are read again before the job starts', async () => {
    const { durably, faults, ran, job, within } = await counted(world)
    const { id } = await job.trigger(true)
    await within(100, durably.processUntilIdle())
    faults.fail('steps.listOwned', { when: 'before', times: 3 })
    await durably.retry(id)
    await within(5000, durably.processUntilIdle())
    expect(faults.count('steps.listOwned')).toBe(4)
    expect(ran).toEqual(['one', 'two'])
  })

  test('a full or read-only disk holds the run up, and it goes on when there is room again', async () => {
    for (const code of ['store_full', 'store_readonly', 'store_busy'] as const) {
      const { durably, faults, ran, job, heard, env } = await counted(world)
      faults.fail('apply.recordStep', { when: 'before', times: ALWAYS, error: new DurablyError(code, 'no room') })
      const { id } = await job.trigger(false)
      durably.start()
      await env.advance(10_000)
      expect(await job.getRun(id)).toMatchObject({ status: 'running', error: null })
      expect(ofType(heard, 'worker:error').at(-1)).toMatchObject({ runId: id, cause: { code } })
      faults.heal()
      await env.advance(2000)
      expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
      expect(ran).toEqual(['one', 'two'])
    }
  })

  test('data that the store refuses fails the step with store_rejected; an output likewise fails the run', async () => {
    const { durably, faults, job, store, within } = await counted(world)
    const rejected = new DurablyError('store_rejected', 'the database refused the data')
    faults.fail('apply.recordStep', { when: 'before', error: rejected })
    const step = await job.trigger(false)
    await within(100, durably.processUntilIdle())
    faults.fail('apply.complete', { when: 'before', error: rejected })
    const output = await job.trigger(false)
    await within(100, durably.processUntilIdle())

    for (const { id } of [step, output]) {
      expect(await job.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'store_rejected' } })
    }
    expect(await store.steps.list(step.id)).toMatchObject([{ name: 'one', status: 'failed' }])
  })

  test.each([0, 5])(
    'a failure that the store refuses is reported, and the job has the error of its step (retries: %i)',
    async (retries) => {
      const { durably, faults, heard, within } = await counted(world)
      const policy = retry.fixed({ maxAttempts: retries + 1, delay: 10 })
      let calls = 0
      const job = durably.defineJob({ name: 'failing', input: anything }, (ctx) =>
        ctx.run('bad', { retry: policy }, () => {
          calls++
          throw new Error('its own fault')
        }),
      )
      faults.fail('apply.recordStep', {
        when: 'before',
        times: ALWAYS,
        error: new DurablyError('store_rejected', 'the database refused the data'),
      })
      const { id } = await job.trigger(null)
      await within(1000, durably.processUntilIdle())
      expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'its own fault' })
      expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'bad' }])
      expect(codesOf(heard)).toEqual(['store_rejected'])
      expect(calls).toBe(1)
    },
  )

  test('a run whose failure the store refuses fails with that, and still names the step', async () => {
    const { durably, faults, heard, within } = await counted(world)
    const job = durably.defineJob({ name: 'failing', input: anything }, (ctx) =>
      ctx.run('bad', () => {
        throw new Error('its own fault')
      }),
    )
    faults.fail('apply.fail', { when: 'before', error: new DurablyError('store_rejected', 'the database refused the data') })
    const { id } = await job.trigger(null)
    await within(1000, durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'store_rejected' } })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'bad' }])
  })

  test('failing progress writes never reject unhandled and never fail the run (peer P9)', async () => {
    const { durably, faults, env } = await counted(world)
    faults.fail('apply.heartbeat', { when: 'before', times: 3 })
    faults.fail('apply.heartbeat', { when: 'before', error: new DurablyError('store_rejected', 'no such progress') })
    const job = durably.defineJob({ name: 'chatty', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        for (let i = 0; i < 20; i++) {
          ctx.progress(i)
          await new Promise<void>((resolve) => void env.timer(500, resolve))
        }
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', progress: { current: 19 } })
  })

  test('a corrupt database stops the worker with advice instead of writing on (reliability §10.1)', async () => {
    const { durably, faults, job, heard, env } = await counted(world)
    faults.fail('runs.probe', { when: 'before', times: 1, error: new DurablyError('store_corrupt', 'the file is damaged') })
    durably.start()
    await env.advance(60_000)
    expect(faults.count('runs.probe')).toBe(1)
    expect(ofType(heard, 'worker:error')).toMatchObject([{ cause: { code: 'store_corrupt' } }])
    // Repaired: the worker can be started again.
    const { id } = await job.trigger(false)
    durably.start()
    await env.advance(10)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
  })
})
