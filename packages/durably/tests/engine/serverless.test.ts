import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DurablyError } from '../../src/model/errors.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('processOne on %s', (world) => {
  test('executes one run without start(), and says whether there was one', async () => {
    const { durably, soon } = await setup(world)
    const order: number[] = []
    const job = durably.defineJob({ name: 'job', input: z.number() }, async (_, n) => void order.push(n))
    expect(await soon(durably.processOne())).toBe(false)
    await job.batchTrigger([{ payload: 1 }, { payload: 2 }])
    expect(await soon(durably.processOne())).toBe(true)
    expect(order).toEqual([1])
    expect(await soon(durably.processOne())).toBe(true)
    expect(await soon(durably.processOne())).toBe(false)
  })

  test('answers false when all that is due waits for a held key', async () => {
    const { durably, soon } = await setup(world)
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('wait', () => finish.opened))
    await job.trigger(null, { concurrencyKey: 'key' })
    await job.trigger(null, { concurrencyKey: 'key' })
    const first = durably.processOne()
    expect(await soon(durably.processOne())).toBe(false)
    finish.open()
    expect(await soon(first)).toBe(true)
  })

  test('takes back lost runs too', async () => {
    const mortal = faulty()
    const { durably, another, env, soon } = await setup(world, { wrap: mortal.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('wait', () => new Promise<void>(() => {})))
    const { id } = await job.trigger(null)
    void durably.processOne()
    await env.advance(100)
    mortal.faults.die()
    const heir = another()
    heir.defineJob({ name: 'job', input: anything }, async () => {})
    expect(await soon(heir.processOne())).toBe(false)
    await env.advance(30_000)
    expect(await soon(heir.processOne())).toBe(true)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('rejects when the store cannot be reached, and can be called again', async () => {
    const failing = faulty()
    const { durably, soon } = await setup(world, { wrap: failing.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null)
    failing.faults.fail('runs.probe', { when: 'before' })
    await expect(soon(durably.processOne())).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await soon(durably.processOne())).toBe(true)
  })
})

describe.each(WORLDS)('processUntilIdle on %s', (world) => {
  test('executes what is due, also what it triggers on the way, and returns how many', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.number() }, async (_, n) => {
      if (n > 0) await job.trigger(n - 1)
    })
    await job.trigger(4)
    expect(await soon(durably.processUntilIdle())).toBe(5)
    expect(await soon(durably.processUntilIdle())).toBe(0)
  })

  test('ends after maxRuns', async () => {
    const { durably, soon } = await setup(world, { concurrency: 3 })
    const job = durably.defineJob({ name: 'job', input: z.number() }, async () => {})
    await job.batchTrigger(Array.from({ length: 10 }, (_, i) => ({ payload: i })))
    expect(await soon(durably.processUntilIdle({ maxRuns: 4 }))).toBe(4)
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(4)
    expect(await soon(durably.processUntilIdle({ maxRuns: 100 }))).toBe(6)
  })

  test('starts nothing after its deadline, and gives back what is still running', async () => {
    const { durably, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('done', () => {})
      await ctx.run('long', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
    })
    const first = await job.trigger(null)
    await job.trigger(null)
    expect(await within(2000, durably.processUntilIdle({ deadline: new Date(env.wall() + 2000) }))).toBe(1)
    expect((await durably.getRuns()).map(({ status, currentStepIndex }) => `${status} ${currentStepIndex}`)).toEqual([
      'pending 0',
      'pending 1',
    ])
    expect(await durably.getRun(first.id)).toMatchObject({ recoveries: 0 })
  })

  test('returns soon after its deadline although a function does not listen; its run is taken over later', async () => {
    const { durably, env, within, another, soon } = await setup(world)
    const job = durably.defineJob({ name: 'deaf', input: anything }, (ctx) => ctx.run('never', () => new Promise<void>(() => {})))
    const { id } = await job.trigger(null)
    expect(await within(3000, durably.processUntilIdle({ deadline: env.wall() + 2000 }))).toBe(0)
    await env.advance(30_000)
    const heir = another()
    heir.defineJob({ name: 'deaf', input: anything }, async () => {})
    expect(await soon(heir.processOne())).toBe(true)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('has stored every log line when it returns', async () => {
    const { durably, soon } = await setup(world)
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect((await durably.getLogs(id)).map(({ message }) => message)).toEqual(['run:trigger', 'run:start', 'run:complete'])
  })

  test('with a deadline in the past does nothing; with one that is no time it says so', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null)
    expect(await soon(durably.processUntilIdle({ deadline: env.wall() - 1 }))).toBe(0)
    await expect(durably.processUntilIdle({ deadline: new Date(Number.NaN) })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'deadline must be a Date or a time in milliseconds since 1970',
    })
    for (const maxRuns of [-1, Number.NaN]) {
      await expect(durably.processUntilIdle({ maxRuns })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: `maxRuns must be a number of at least 0, got ${maxRuns}`,
      })
    }
    expect(await durably.getRuns({ status: 'pending' })).toHaveLength(1)
  })

  test('two invocations split a backlog without processing a run twice', async () => {
    const { durably, another, within } = await setup(world, { concurrency: 2 })
    const ran: number[] = []
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: z.number() }, (ctx, n) =>
        ctx.run('work', async () => {
          ran.push(n)
          await new Promise((resolve) => setImmediate(resolve))
        }),
      )
    const other = another({ concurrency: 2 })
    define(other)
    await define(durably).batchTrigger(Array.from({ length: 20 }, (_, i) => ({ payload: i })))
    const counts = await within(10_000, Promise.all([durably.processUntilIdle(), other.processUntilIdle()]))
    expect(counts[0] + counts[1]).toBe(20)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i))
  })

  test('an error of the store ends it, and it has left the lead to others and stored every log line', async () => {
    const failing = faulty()
    const { another, durably, env, within } = await setup(world)
    const worker = another({ workerId: 'a', wrap: failing.wrap })
    worker.use(withLogPersistence())
    const job = worker.defineJob({ name: 'job', input: anything }, async (ctx) => ctx.log.info('hello'))
    const { id } = await job.trigger(null)
    await worker.schedule({ job, every: '1s' })
    await env.advance(1500)
    const error = new DurablyError('store_rejected', 'no')
    failing.faults.fail('runs.claim', { when: 'before', skip: 1, error })
    const answer = failing.faults.hold('logs.append')
    const rejected = expect(worker.processUntilIdle()).rejects.toThrow('no')
    await env.advance(1000)
    answer()
    await within(1000, rejected)
    expect(await durably.leader()).toMatchObject({ workerId: 'a', isLeading: false })
    expect((await durably.getLogs(id)).map(({ message }) => message)).toContain('run:complete')
  })

  test('an error of the store ends it after the active runs, and nothing goes on in the background', async () => {
    const failing = faulty()
    const { durably, env, within } = await setup(world, { wrap: failing.wrap, concurrency: 2 })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('wait', () => finish.opened))
    await job.batchTrigger([{ payload: 1 }, { payload: 2 }, { payload: 3 }])
    failing.faults.fail('runs.claim', { when: 'before', skip: 1 })
    let ended = false
    const outcome = durably
      .processUntilIdle()
      .catch((error: unknown) => error)
      .finally(() => {
        ended = true
      })
    await env.advance(1000)
    expect(ended).toBe(false)
    finish.open()
    expect(await within(1000, outcome)).toMatchObject({ code: 'store_unavailable' })
    await env.advance(5000)
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(1)
  })
})
