// Retries: a failed attempt goes back to the queue with a time, and never waits in a slot.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { NonRetryableError, type RetryPolicy, retry, retryAfter } from '../../src/model/retry-policy.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const HOUR = 3_600_000

describe.each(WORLDS)('retries of a job on %s', (world) => {
  test('without a policy a run fails at once, and is never tried again (000 §失敗と再実行)', async () => {
    const { durably, env } = await setup(world)
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      executions++
      throw new Error('no')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(HOUR)
    expect(executions).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', attempts: 1, reason: 'error' })
  })

  test('with a fixed delay it is tried so many times, at these times and not before; completed steps stay', async () => {
    const { durably, env } = await setup(world, { pollingInterval: HOUR })
    const began: number[] = []
    const seen: number[] = []
    let steps = 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3, delay: '10s' }) }, async (ctx) => {
      began.push(env.wall() - start)
      seen.push(ctx.attempt)
      await ctx.run('once', () => void steps++)
      throw new Error(`attempt ${ctx.attempt}`)
    })
    const start = env.wall()
    const heard = listenTo(durably)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(9999)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping', attempts: 1, error: 'attempt 1' })
    expect(began).toEqual([0])
    await env.advance(HOUR)
    expect(began).toEqual([0, 10_000, 20_000])
    expect(seen).toEqual([1, 2, 3])
    expect(steps).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', attempts: 3, error: 'attempt 3', reason: 'error' })
    expect(ofType(heard, 'run:retry').map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, 'attempt 1'],
      [2, 'attempt 2'],
    ])
    expect(ofType(heard, 'run:fail')).toHaveLength(1)
  })

  test('a retry without a delay comes at once', async () => {
    const { durably, soon } = await setup(world)
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3 }) }, async () => {
      if (++executions < 3) throw new Error('not yet')
      return executions
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 3, attempts: 2, error: null })
  })

  test('a run that waits for its retry frees its slot: another run executes meanwhile', async () => {
    const { durably, env } = await setup(world, { concurrency: 1 })
    let fails = true
    const flaky = durably.defineJob({ name: 'flaky', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 60_000 }) }, async () => {
      if (fails) throw new Error('no')
    })
    const other = durably.defineJob({ name: 'other', input: anything }, async () => 'done')
    const first = await flaky.trigger(null)
    const second = await other.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(first.id)).toMatchObject({ status: 'pending', phase: 'sleeping' })
    expect(await durably.getRun(second.id)).toMatchObject({ status: 'completed' })
    fails = false
    await env.advance(60_000)
    expect(await durably.getRun(first.id)).toMatchObject({ status: 'completed' })
  })

  test('a run that waits for its retry does not hold its key', async () => {
    const { durably, env } = await setup(world, { pollingInterval: HOUR })
    const job = durably.defineJob(
      { name: 'job', input: z.boolean(), retry: retry.fixed({ maxAttempts: 2, delay: HOUR }) },
      async (_, fails) => {
        if (fails) throw new Error('no')
      },
    )
    await job.trigger(true, { concurrencyKey: 'k' })
    const { id } = await job.trigger(false, { concurrencyKey: 'k' })
    durably.start()
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('exponential delays stay under a ceiling that doubles up to its cap, and differ', async () => {
    const { durably, env } = await setup(world)
    const began: number[] = []
    const policy = retry.exponential({ maxAttempts: 8, initial: '1s', max: '8s' })
    const job = durably.defineJob({ name: 'job', input: anything, retry: policy }, async () => {
      began.push(env.wall())
      throw new Error('no')
    })
    await job.batchTrigger([{ payload: 1 }])
    durably.start()
    await env.advance(HOUR)
    const delays = began.slice(1).map((at, i) => at - (began[i] ?? 0))
    const ceilings = [1000, 2000, 4000, 8000, 8000, 8000, 8000]
    expect(delays).toHaveLength(ceilings.length)
    for (const [i, delay] of delays.entries()) expect(delay).toBeLessThanOrEqual(ceilings[i] ?? 0)
    expect(new Set(delays).size).toBeGreaterThan(4)
  })

  test('NonRetryableError ends it, whatever the policy says', async () => {
    const { durably, soon } = await setup(world)
    const always: RetryPolicy = () => 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: always }, async () => {
      throw new NonRetryableError('bad address')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', attempts: 1, error: 'bad address' })
  })

  test.each([
    ['0', 0, 0],
    ['90s', '90s' as const, 90_000],
  ])('retryAfter(error, %s) decides when, instead of the policy', async (_, delay, ms) => {
    const { durably, env } = await setup(world)
    const began: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 5000 }) }, async () => {
      began.push(env.wall())
      throw retryAfter(new Error('429'), delay)
    })
    await job.trigger(null)
    durably.start()
    await env.advance(HOUR)
    expect(began.map((at) => at - (began[0] ?? 0))).toEqual([0, ms])
  })

  test.each<[string, RetryPolicy]>([
    ['NaN', () => Number.NaN],
    ['a negative delay', () => -1],
    ['Infinity', () => Number.POSITIVE_INFINITY],
    ['nothing', (() => undefined) as unknown as RetryPolicy],
    ['a text', (() => '5s') as unknown as RetryPolicy],
    ['a promise', (async () => 5) as unknown as RetryPolicy],
    [
      'an exception',
      () => {
        throw new Error('the policy is broken')
      },
    ],
  ])('a policy that answers %s has given up: the run fails with its own error, and the policy is reported', async (_, policy) => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything, retry: policy }, async () => {
      throw new Error('the job is broken')
    })
    const step = durably.defineJob({ name: 'step', input: anything }, (ctx) =>
      ctx.run('step', { retry: policy }, () => {
        throw new Error('the step is broken')
      }),
    )
    const first = await job.trigger(null)
    const second = await step.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(first.id)).toMatchObject({ status: 'failed', error: 'the job is broken', attempts: 1 })
    expect(await durably.getRun(second.id)).toMatchObject({ status: 'failed', error: 'the step is broken' })
    const reported = ofType(heard, 'worker:error')
    expect(reported.map(({ runId }) => runId)).toEqual([first.id, second.id])
    expect(reported[0]?.error).toMatch(/retry policy must return a delay in milliseconds or 'dead'|the policy is broken/)
  })

  test('a delay longer than any run lives is cut, and the run stays readable', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, retry: () => 1e300 }, async () => {
      throw new Error('no')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping', attempts: 1 })
    expect(await durably.cancel(id)).toBe('cancelled')
  })

  test('an error that throws when it is looked at is retried like any other', async () => {
    const { durably, soon } = await setup(world)
    const hostile = new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error('do not look')
        },
      },
    )
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2 }) }, async () => {
      executions++
      throw hostile
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(executions).toBe(2)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', attempts: 2 })
  })

  test('an output that its schema refuses, or that cannot be written, is retried too', async () => {
    const { durably, soon } = await setup(world)
    const policy = retry.fixed({ maxAttempts: 2 })
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything, output: z.number(), retry: policy }, async (ctx) => {
      executions++
      return (ctx.attempt === 1 ? 'text' : 1) as number
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(executions).toBe(2)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1, attempts: 1, error: null })
  })

  test('manual retry() starts the count anew', async () => {
    const { durably, soon } = await setup(world)
    const attempts: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2 }) }, async (ctx) => {
      attempts.push(ctx.attempt)
      throw new Error('no')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', attempts: 0, error: null, failure: null })
    await soon(durably.processUntilIdle())
    expect(attempts).toEqual([1, 2, 1, 2])
  })

  test('a lost worker is a recovery, not an attempt; the policy goes on where it was', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const attempts: string[] = []
    const define = (instance: typeof durably, who: string) =>
      instance.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) }, async (ctx) => {
        attempts.push(`${who} ${ctx.attempt}`)
        if (who === 'first' && ctx.attempt === 2) return new Promise<string>(() => {})
        if (ctx.attempt === 1) throw new Error('no')
        return 'done'
      })
    const { id } = await define(durably, 'first').trigger(null)
    durably.start()
    await env.advance(2000)
    mortal.faults.die()
    const heir = another()
    define(heir, 'second')
    heir.start()
    await env.advance(40_000)
    expect(attempts).toEqual(['first 1', 'first 2', 'second 2'])
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', attempts: 1, recoveries: 1 })
  })

  test('stop() does not wait for a retry, and another instance takes it at its time', async () => {
    const { durably, another, env, soon } = await setup(world)
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: HOUR }) }, async (ctx) => {
        if (ctx.attempt === 1) throw new Error('no')
        return env.wall()
      })
    const began = env.wall()
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(100)
    await soon(durably.stop())
    const heir = another({ pollingInterval: 10 * HOUR })
    define(heir)
    heir.start()
    await env.advance(2 * HOUR)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: began + HOUR })
  })

  test('cancel while it waits for its retry', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: HOUR }) }, async () => {
      throw new Error('no')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.cancel(id)).toBe('cancelled')
    await env.advance(2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled', attempts: 1 })
  })

  test.each(['before', 'after'] as const)('a reply of the database lost %s it took effect costs no attempt', async (when) => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    faults.fail('apply.retryLater', { when, times: 2 })
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3 }) }, async () => {
      executions++
      throw new Error('no')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(executions).toBe(3)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', attempts: 3 })
  })
})

describe.each(WORLDS)('retries of a step on %s', (world) => {
  test('each try is recorded; the run waits in the queue, its attempts are not touched, and the step knows its own', async () => {
    const { durably, env } = await setup(world, { pollingInterval: HOUR })
    const tries: [number, string][] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) =>
      ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 3, delay: '10s' }) }, ({ attempt, idempotencyKey }) => {
        tries.push([attempt, idempotencyKey])
        if (attempt < 3) throw new Error(`try ${attempt}`)
        return ctx.attempt
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping', attempts: 0 })
    await env.advance(20_000)
    expect(tries.map(([attempt]) => attempt)).toEqual([1, 2, 3])
    expect(new Set(tries.map(([, key]) => key)).size).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1, attempts: 0 })
    expect((await durably.getSteps(id)).map(({ status, error }) => [status, error])).toEqual([
      ['failed', 'try 1'],
      ['failed', 'try 2'],
      ['completed', null],
    ])
  })

  test('when its tries are used up the job hears the last error, and may catch it', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const flaky = ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2 }) }, ({ attempt }) => {
        throw new Error(`try ${attempt}`)
      })
      return flaky.catch((error: Error) => error.message)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'try 2' })
  })

  test('manual retry() gives it its tries anew, and the history stays', async () => {
    const { durably, env } = await setup(world)
    const tries: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 3 }) }, ({ attempt }) => {
        tries.push(attempt)
        if (tries.length < 6) throw new Error('no')
        return 'done'
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed' })
    await durably.retry(id)
    await env.advance(1000)
    expect(tries).toEqual([1, 2, 3, 1, 2, 3])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
    expect((await durably.getSteps(id)).map(({ status }) => status)).toEqual([...Array(5).fill('failed'), 'completed'])
  })

  test('it waits for its siblings first, and their results are not lost', async () => {
    const { durably, env } = await setup(world)
    const sibling = gate()
    const ran: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) =>
      Promise.all([
        ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) }, ({ attempt }) => {
          ran.push(`flaky ${attempt}`)
          if (attempt === 1) throw new Error('no')
          return 'flaky'
        }),
        ctx.run('slow', async () => {
          ran.push('slow')
          await sibling.opened
          return 'slow'
        }),
      ]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    expect(ran).toEqual(['flaky 1', 'slow'])
    sibling.open()
    await env.advance(10_000)
    expect(ran).toEqual(['flaky 1', 'slow', 'flaky 2'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: ['flaky', 'slow'] })
  })

  test('and what the sibling’s end lets begin is run too, before the run goes back to the queue', async () => {
    const { durably, env, soon } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const chain = async () => {
        for (const name of ['a', 'b', 'c']) {
          await ctx.run(name, async () => {
            ran.push(name)
            await env.idle()
          })
          // Code between two steps may take a few turns of its own.
          for (let i = 0; i < 20; i++) await null
        }
      }
      const flaky = ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: HOUR }) }, () => {
        throw new Error('no')
      })
      await Promise.all([flaky, chain()])
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(ran).toEqual(['a', 'b', 'c'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'sleeping', currentStepIndex: 3 })
  })

  test('with a sleep beside it, each comes at its own time', async () => {
    const { durably, env } = await setup(world, { pollingInterval: HOUR })
    const tries: number[] = []
    const start = env.wall()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const flaky = ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 4, delay: 2000 }) }, ({ attempt }) => {
        tries.push(env.wall() - start)
        if (attempt < 4) throw new Error('no')
      })
      const asleep = ctx.sleep('nap', 3000).then(() => env.wall() - start)
      await flaky
      return asleep
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(tries).toEqual([0, 2000, 4000, 6000])
    const nap = (await durably.getSteps(id)).find(({ name }) => name === 'nap')
    expect(Date.parse(nap?.completedAt ?? '') - start).toBe(3000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a job that throws meanwhile is retried by its own policy, and the step keeps its time', async () => {
    const { durably, env } = await setup(world)
    const tries: number[] = []
    const start = env.wall()
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 1000 }) }, async (ctx) => {
      const flaky = ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: 10_000 }) }, ({ attempt }) => {
        tries.push(env.wall() - start)
        if (attempt === 1) throw new Error('no')
      })
      if (ctx.attempt === 1) {
        await ctx.run('wait a moment', () => {})
        throw new Error('job')
      }
      await flaky
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(tries).toEqual([0, 10_000])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', attempts: 1 })
  })

  test('cancel that comes with the record of the failed try ends the run at once', async () => {
    const { durably, another, env } = await setup(world, { pollingInterval: HOUR })
    const far = another()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) =>
      ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: HOUR }) }, async () => {
        await far.cancel(ctx.runId)
        throw new Error('no')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('stop() while a try has failed and its sibling goes on gives the run back with its times', async () => {
    const { durably, another, env, within } = await setup(world)
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        const flaky = ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: 10_000 }) }, ({ attempt }) => {
          if (attempt === 1) throw new Error('no')
          return env.wall() - start
        })
        await ctx.run('slow', ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())))
        return flaky
      })
    const start = env.wall()
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(100)
    await within(1000, durably.stop({ timeout: 0 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    const heir = another()
    heir.defineJob({ name: 'job', input: anything }, async (ctx) =>
      ctx.run('flaky', { retry: retry.fixed({ maxAttempts: 2, delay: 10_000 }) }, () => env.wall() - start),
    )
    heir.start()
    await env.advance(20_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 10_000 })
  })
})

describe.each(WORLDS)('an unreadable payload on %s', (world) => {
  test('is retried like any other error: it may be repaired meanwhile', async () => {
    const { durably, env, store } = await setup(world)
    durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3, delay: 1000 }) }, async () => 'done')
    const id = env.id()
    const times = { createdAt: new Date(env.wall()).toISOString(), delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }
    const keys = {
      idempotencyKey: null,
      concurrencyKey: null,
      holdKey: false,
      labels: null,
      parentRunId: null,
      parentStep: null,
      parentToken: null,
    }
    await store.runs.create([{ id, jobName: 'job', payload: '{broken', ...times, ...keys }])
    durably.start()
    await env.advance(10_000)
    expect(await store.runs.get(id)).toMatchObject({ status: 'failed', reason: 'unreadable', attempts: 3 })
  })
})
