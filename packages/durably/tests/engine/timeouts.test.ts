// Timeouts of steps and of executions, and the deadline of a run: by its owner, and by whoever finds it when that is dead.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sleep } from '../../src/model/env.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const HOUR = 3_600_000

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe.each(WORLDS)('timeout of a step on %s', (world) => {
  test('aborts its signal, and only its own; the step fails with the code timeout', async () => {
    const { durably, env } = await setup(world)
    let reason: unknown
    let outerAborted: boolean | undefined
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const slow = ctx.run('slow', { timeout: '10s' }, ({ signal }) => untilAborted(signal))
      await slow.catch((error: unknown) => {
        reason = error
        outerAborted = ctx.signal.aborted
      })
      return ctx.run('next', () => env.wall() - start)
    })
    const start = env.wall()
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(reason).toMatchObject({ code: 'timeout', message: expect.stringContaining('"slow"') })
    expect(outerAborted).toBe(false)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 10_000 })
    expect(await durably.getSteps(id)).toMatchObject([{ status: 'failed', failure: { code: 'timeout' } }, { status: 'completed' }])
  })

  test('one that ignores its signal is not waited for, and what it returns later is ignored', async () => {
    const { durably, env } = await setup(world)
    const late = gate<string>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('deaf', { timeout: 1000, retry: retry.fixed({ maxAttempts: 2 }) }, ({ attempt }) => (attempt === 1 ? late.opened : 'second')),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    late.open('first')
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'second' })
  })

  test('one of more days than a timer of a runtime can have lasts as long as it says', async () => {
    const { env, another } = await setup(world)
    const day = 24 * HOUR
    const timer: typeof env.timer = (ms, fn, latestMs) => env.timer(Math.min(ms, 2 ** 31 - 1), fn, latestMs)
    const worker = another({ env: { ...env, timer }, concurrency: 2, heartbeatInterval: 6 * HOUR, staleThreshold: day })
    const job = worker.defineJob({ name: 'job', input: anything }, (ctx, days: unknown) =>
      ctx.run('long', { timeout: '30d' }, () => sleep(env, Number(days) * day).then(() => 'done')),
    )
    const [{ id: shorter }, { id: longer }] = [await job.trigger(26), await job.trigger(40)]
    worker.start()
    await env.advance('29d')
    expect(await worker.getRun(shorter)).toMatchObject({ status: 'completed', output: 'done' })
    expect(await worker.getRun(longer)).toMatchObject({ status: 'running' })
    await env.advance('2d')
    expect(await worker.getRun(longer)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('one that is done in time leaves no timer behind', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, timeout: '2h' }, (ctx) => ctx.run('quick', { timeout: '1h' }, () => 1))
    await job.trigger(null, { deadline: '3h' })
    await soon(durably.processUntilIdle())
    expect(env.nextInMs()).toBe(null)
  })

  test.each(['soon', -1, Number.NaN])('%s is refused with a clear error', async (timeout) => {
    const { durably, soon } = await setup(world)
    expect(() => durably.defineJob({ name: 'x', input: anything, timeout: timeout as 1 }, async () => {})).toThrow(/timeout of job "x"/)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('x', { timeout: timeout as 1 }, () => {}))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'invalid_argument' } })
  })
})

describe.each(WORLDS)('timeout of a job on %s', (world) => {
  test('ends the execution with reason timeout; the policy decides about another', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob(
      { name: 'job', input: anything, timeout: '1m', retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) },
      (ctx) => ctx.run('slow', ({ signal }) => untilAborted(signal)),
    )
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(61_000)
    expect(await durably.getRun(id)).toMatchObject({ attempts: 1, failure: { code: 'timeout' } })
    await env.advance(120_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout', attempts: 2 })
    expect(ofType(heard, 'run:fail')).toHaveLength(1)
    // It was interrupted: the step did not fail by itself.
    expect(await durably.getSteps(id)).toEqual([])
  })

  test('counts one execution, not the sleeps between', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, timeout: '1m' }, async (ctx) => {
      await ctx.sleep('nap', '1h')
      return 'awake'
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'awake' })
  })

  test.each(['job', 'step'])('a %s that ignores its signal does not hold the slot; what it records late is refused', async (who) => {
    const { durably, env } = await setup(world, { concurrency: 1 })
    const late = gate()
    const refused: unknown[] = []
    const deaf = durably.defineJob({ name: 'deaf', input: anything, timeout: 1000 }, async (ctx) => {
      if (who === 'job') await late.opened
      else await ctx.run('deaf', () => late.opened)
      await ctx.run('late', () => {}).catch((error: { code: string }) => refused.push(error.code))
    })
    const other = durably.defineJob({ name: 'other', input: anything }, async () => 'done')
    const { id } = await deaf.trigger(null)
    const { id: otherId } = await other.trigger(null)
    durably.start()
    await env.advance(3000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(await durably.getRun(otherId)).toMatchObject({ status: 'completed' })
    late.open()
    await env.advance(3000)
    expect(refused.length).toBeLessThanOrEqual(1)
    expect(await durably.getSteps(id)).toEqual([])
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('a cancelled job that ignores its signal is let go when its time is over', async () => {
    const { durably, env } = await setup(world, { concurrency: 1 })
    const job = durably.defineJob({ name: 'job', input: anything, timeout: '1m' }, () => new Promise<void>(() => {}))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    await durably.cancel(id)
    await env.advance(62_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })
})

describe.each(WORLDS)('deadline of a run on %s', (world) => {
  test('while it runs: its signal aborts, it fails with reason timeout and is not retried', async () => {
    const { durably, env } = await setup(world)
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 5 }) }, (ctx) => {
      executions++
      return ctx.run('slow', ({ signal }) => untilAborted(signal))
    })
    const { id } = await job.trigger(null, { deadline: '1m' })
    durably.start()
    await env.advance(2 * HOUR)
    expect(executions).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout', attempts: 1 })
  })

  test('no retry is planned past it: the run fails with the error it has', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 5, delay: '40s' }) }, async (ctx) => {
      throw new Error(`attempt ${ctx.attempt}`)
    })
    const { id } = await job.trigger(null, { deadline: new Date(env.wall() + 60_000) })
    durably.start()
    await env.advance(41_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'error', error: 'attempt 2', attempts: 2 })
  })

  test.each([
    ['asleep', (ctx: { sleep(name: string, ms: number): Promise<void> }) => ctx.sleep('nap', HOUR)],
    ['waiting for a signal', (ctx: { waitFor(name: string): Promise<unknown> }) => ctx.waitFor('go')],
  ] as const)('while it is %s: it fails at its deadline, and no user code starts', async (_, waits) => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      executions++
      await (waits as (ctx: unknown) => Promise<unknown>)(ctx)
    })
    const { id } = await job.trigger(null, { deadline: '1m' })
    durably.start()
    await env.advance(61_000)
    expect(executions).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout', finishedAt: expect.any(String) })
  })

  test.each([
    ['its delay is longer', { delay: '1h' as const }],
    ['nobody was there to start it', {}],
  ])('while it is pending, because %s: it fails, and its code never starts', async (_, options) => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async () => void executions++)
    const { id } = await job.trigger(null, { ...options, deadline: '1m' })
    if ('delay' in options) durably.start()
    await env.advance(61_000)
    durably.start()
    await env.advance(1000)
    expect(executions).toBe(0)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('when its owner is dead, the worker that finds it fails it, and emits that', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const define = (instance: typeof durably) => instance.defineJob({ name: 'job', input: anything }, () => new Promise<void>(() => {}))
    const { id } = await define(durably).trigger(null, { deadline: '10s' })
    durably.start()
    await env.advance(1000)
    mortal.faults.die()
    const heir = another()
    const heard = listenTo(heir)
    define(heir)
    heir.start()
    await env.advance(40_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout', failure: { code: 'timeout' } })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ runId: id }])
    expect(ofType(heard, 'run:start')).toEqual([])
  })

  test('manual retry() of a run that was out of time lets it go on without one', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.sleep('nap', '2h')
      return 'done'
    })
    const { id } = await job.trigger(null, { deadline: '1h' })
    durably.start()
    await env.advance(HOUR + 1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(await durably.retry(id)).toMatchObject({ deadlineAt: null })
    await env.advance(2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })

  test('a claim that took its time does not bring it forward', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('work', () => sleep(env, 8000).then(() => 'in time')))
    const { id } = await job.trigger(null, { deadline: '30s' })
    const release = faults.hold('runs.claim')
    durably.start()
    await env.advance(15_000)
    release()
    await env.advance(10_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'in time' })
  })

  test('while its worker stops: it is not given back, and what it returns does not complete it', async () => {
    const { durably, env } = await setup(world)
    const late = gate<string>()
    const job = durably.defineJob({ name: 'job', input: anything }, () => late.opened)
    const { id } = await job.trigger(null, { deadline: '10s' })
    durably.start()
    await env.advance(9900)
    const stopped = durably.stop({ timeout: 0 })
    await env.advance(200)
    late.open('too late')
    await env.advance(1000)
    await stopped
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('a run that ends in time is not touched by it', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 'done')
    const { id } = await job.trigger(null, { deadline: '1m' })
    durably.start()
    await env.advance(HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
  })
})
