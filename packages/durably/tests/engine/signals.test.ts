// Signals: a value that is sent to a run is never lost, the first under a name wins, and waiting holds no slot.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { retry } from '../../src/model/retry-policy.ts'
import type { Store } from '../../src/store/store.ts'
import { type CallName, faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const HOUR = 3_600_000

describe.each(WORLDS)('signals on %s', (world) => {
  test('the run waits without a slot and goes on when the signal comes, without a poll', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR, concurrency: 1 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('approval'))
    const other = durably.defineJob({ name: 'other', input: anything }, async () => 'done')
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
    const { id: otherId } = await other.trigger(null)
    await env.advance(1000)
    expect(await durably.getRun(otherId)).toMatchObject({ status: 'completed' })
    await durably.signal(id, 'approval', { ok: true })
    await env.advance(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: { ok: true } })
  })

  test('one that was sent before anyone waits is there when the run asks', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('early'))
    const { id } = await job.trigger(null)
    await durably.signal(id, 'early', 'bird')
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'bird' })
    expect(ofType(heard, 'run:wait')).toEqual([])
  })

  test.each([undefined, null, 0, '', false, new Date(5), 10n, new Map([[1, 'a']])])('carries %s as it is', async (value) => {
    const { durably, soon } = await setup(world)
    let received: unknown = 'nothing'
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      received = await ctx.waitFor('value')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.signal(id, 'value', value)
    await soon(durably.processUntilIdle())
    expect(received).toStrictEqual(value)
  })

  test('is validated by its schema, which may change it; the replay sees what was recorded', async () => {
    const { durably, env } = await setup(world)
    let validations = 0
    const seen: unknown[] = []
    const schema = z.object({ n: z.string().transform((text) => ++validations + Number(text)) })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      seen.push(await ctx.waitFor('n', { schema }))
      await ctx.sleep('nap', 1000)
    })
    const { id } = await job.trigger(null)
    // Before the run is claimed: one that came after it would wake the run once more when it parks.
    await durably.signal(id, 'n', { n: '41' })
    durably.start()
    await env.advance(5000)
    expect(seen).toEqual([{ n: 42 }, { n: 42 }])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a value that its schema refuses fails the step, and the job may catch it', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.boolean() }, async (ctx, catches) => {
      const waited = ctx.waitFor('n', { schema: z.number() })
      return catches ? waited.catch((error: Error) => error.message) : waited
    })
    const heard = listenTo(durably)
    const [fails, catches] = await job.batchTrigger([{ payload: false }, { payload: true }])
    for (const run of [fails, catches]) await durably.signal(run?.id ?? '', 'n', 'text')
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(fails?.id ?? '')).toMatchObject({ status: 'failed', failure: { code: 'invalid_input' } })
    expect(await durably.getRun(catches?.id ?? '')).toMatchObject({ status: 'completed', output: expect.stringContaining('signal "n"') })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'n' }])
  })

  test('after a refused value retry() lets the run wait for a corrected one', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('n', { schema: z.number() }))
    const { id } = await job.trigger(null)
    durably.start()
    await durably.signal(id, 'n', 'text')
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'invalid_input' } })
    await expect(durably.signal(id, 'n', 5)).rejects.toMatchObject({ code: 'signal_taken' })
    await durably.retry(id)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
    await durably.signal(id, 'n', 5)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 5 })
  })

  test('a timeout is recorded: a signal that comes later does not change history', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const seen: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      seen.push(await ctx.waitFor('approval', { timeout: '1h' }).then(String, (error: { code: string }) => error.code))
      await ctx.sleep('nap', '1h')
      return env.wall() - start
    })
    const start = env.wall()
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(HOUR + 1000)
    await durably.signal(id, 'approval', 'too late')
    await env.advance(2 * HOUR)
    expect(seen).toEqual(['wait_timeout', 'wait_timeout'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 2 * HOUR })
  })

  test('an uncaught timeout fails the run and names the step', async () => {
    const { durably, env } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('approval', { timeout: 1000 }))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'wait_timeout' } })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'approval' }])
  })

  test.each([100, 2000])(
    'a timeout counts from the first call, although the job fails while signals are read for %d ms',
    async (readMs) => {
      const { durably: first, env, another } = await setup(world)
      const slowToRead = (store: Store): Store => {
        let ms = readMs
        const list: Store['signals']['list'] = (...args) => {
          const answer = new Promise<void>((resolve) => void env.timer(ms, resolve)).then(() => store.signals.list(...args))
          ms = 0
          return answer
        }
        return { ...store, signals: { ...store.signals, list } }
      }
      const durably = another({ wrap: slowToRead })
      const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: '40m' }) }, async (ctx) => {
        const waits = ctx.waitFor('never', { timeout: '1h' }).catch((error: { code: string }) => error.code)
        const fails = ctx.run('fails once', async ({ attempt }) => {
          await new Promise<void>((resolve) => void env.timer(10, resolve))
          if (attempt === 1) throw new Error('once')
        })
        return (await Promise.all([waits, fails]))[0]
      })
      const { id } = await job.trigger(null)
      durably.start()
      await env.advance(0.9 * HOUR)
      expect(await first.getRun(id)).toMatchObject({ status: 'pending', attempts: 1 })
      await env.advance(0.2 * HOUR)
      expect(await first.getRun(id)).toMatchObject({ status: 'completed', output: 'wait_timeout' })
    },
  )

  test('a timeout counts from the first call, although the job throws right after it', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: '40m' }) }, async (ctx) => {
      const waits = ctx.waitFor('never', { timeout: '1h' }).catch((error: { code: string }) => error.code)
      if (ctx.attempt === 1) throw new Error('once')
      return waits
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(0.9 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', attempts: 1 })
    await env.advance(0.2 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'wait_timeout' })
  })

  test('a timeout counts from the first call, however often the run is woken for something else', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const start = env.wall()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const naps = async () => {
        for (let i = 0; i < 5; i++) await ctx.sleep(`nap ${i}`, '20m')
      }
      const late = ctx.waitFor('never', { timeout: '1h' }).catch(() => ctx.run('late', () => env.wall() - start))
      await naps()
      return late
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(3 * HOUR)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: HOUR })
  })

  test('and however often the job is retried meanwhile; a signal does not cut the pause before a retry short', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const began: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 3, delay: '20m' }) }, async (ctx) => {
      began.push(env.wall() - start)
      const late = ctx.waitFor('never', { timeout: '1h' }).catch((error: { code: string }) => error.code)
      const go = ctx.waitFor('go')
      if (ctx.attempt < 3) {
        await ctx.sleep(`before failure ${ctx.attempt}`, 1000)
        throw new Error('no')
      }
      return [await late, env.wall() - start, await go]
    })
    const start = env.wall()
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10_000)
    await durably.signal(id, 'go', 'gone')
    await env.advance(1000)
    expect(began).toHaveLength(2)
    await env.advance(2 * HOUR)
    const { output } = (await durably.getRun(id)) as { output: [string, number, string] }
    expect(output).toEqual(['wait_timeout', expect.any(Number), 'gone'])
    expect(output[1]).toBeGreaterThanOrEqual(HOUR)
    expect(output[1]).toBeLessThan(HOUR + 1000)
  })

  test('the first under a name wins; the second is refused', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('approval'))
    const { id } = await job.trigger(null)
    const both = await Promise.allSettled([durably.signal(id, 'approval', 1), durably.signal(id, 'approval', 2)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(both[1]).toMatchObject({ reason: { code: 'signal_taken', runId: id } })
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ output: 1 })
  })

  test('sent again with its idempotencyKey it is no error, also after the run has ended', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => [await ctx.waitFor('a'), await ctx.waitFor('b')])
    const { id } = await job.trigger(null)
    await durably.signal(id, 'a', 1, { idempotencyKey: 'request 7' })
    await durably.signal(id, 'a', 'other', { idempotencyKey: 'request 7' })
    await expect(durably.signal(id, 'a', 1, { idempotencyKey: 'request 8' })).rejects.toMatchObject({ code: 'signal_taken' })
    // A key belongs to a signal, not to the run.
    await durably.signal(id, 'b', 2, { idempotencyKey: 'request 7' })
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: [1, 2] })
    await durably.signal(id, 'a', 1, { idempotencyKey: 'request 7' })
    await expect(durably.signal(id, 'c', 1)).rejects.toMatchObject({ code: 'run_ended' })
  })

  test('to a run that is not there, under a bad name, or a value that cannot be written: clear errors', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('x'))
    const { id } = await job.trigger(null)
    await expect(durably.signal('nobody', 'x', 1)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(durably.signal(id, '', 1)).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.signal(id, 'decision/1/x', 1)).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.signal(id, 'x', () => {})).rejects.toMatchObject({ code: 'value_not_serializable' })
    await expect(durably.signal(id, 'x', 1, { idempotencyKey: '' })).rejects.toMatchObject({ code: 'invalid_name' })
    await durably.signal(id, 'x', 'after all')
  })

  test('to wait under a name that no signal can have fails the run, with the words that its sender would hear', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('decision/1/x'))
    const { id } = await job.trigger(null)
    const refused = await durably.signal(id, 'decision/1/x', 1).catch((error) => error)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_name', message: refused.message },
    })
  })

  test('one that nobody waits for wakes nobody and harms nobody', async () => {
    const { durably, env } = await setup(world)
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => {
      executions++
      return ctx.waitFor('right')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    await durably.signal(id, 'wrong', 1)
    await env.advance(10_000)
    expect(executions).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'waiting' })
    await durably.signal(id, 'right', 2)
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 2 })
  })

  test('many waits at once, answered in any order', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    const names = Array.from({ length: 12 }, (_, i) => `signal ${i}`)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => Promise.all(names.map((name) => ctx.waitFor(name))))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    for (const name of names.toReversed()) {
      await durably.signal(id, name, name.toUpperCase())
      if (name.endsWith('5')) await env.advance(100)
    }
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: names.map((name) => name.toUpperCase()) })
  })

  test('raced with a sleep, the usual way to give up: the signal wakes it long before', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap, pollingInterval: 10 * HOUR })
    // A slow read must not let the run park without the wait that is about to be asked for.
    const answer = faults.hold('signals.list')
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      Promise.race([ctx.sleep('patience', HOUR).then(() => 'gave up'), ctx.waitFor('go')]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    answer()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
    await durably.signal(id, 'go', 'went')
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'went' })
  })

  test('after its signal has come, a run that only sleeps is sleeping, and sleeps through', async () => {
    const { durably, env } = await setup(world, { pollingInterval: 10 * HOUR })
    let executions = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      executions++
      await ctx.waitFor('go', { timeout: '1h' })
      await ctx.sleep('nap', '5h')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    await durably.signal(id, 'go', 1)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'sleeping' })
    await env.advance(10 * HOUR)
    expect(executions).toBe(3)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test.each<[string, CallName, 'held' | 'answered']>([
    ['before the claim', 'runs.claim', 'held'],
    ['after the claim', 'runs.claim', 'answered'],
    ['before the signals are read', 'signals.list', 'held'],
    ['after the signals are read', 'signals.list', 'answered'],
    ['before the run is parked', 'apply.park', 'held'],
    ['after the run is parked', 'apply.park', 'answered'],
  ])('one that is sent %s is not lost', async (_, call, when) => {
    const { wrap, faults } = faulty()
    const there = gate()
    const sendAfter = (store: Parameters<typeof wrap>[0]) => {
      if (when === 'held') return store
      const [chapter, verb] = call.startsWith('apply') ? ['runs', 'apply'] : call.split('.')
      const inner = store[chapter as 'runs'] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
      const original = inner[verb ?? '']?.bind(inner)
      const slow = async (...args: unknown[]) => {
        const answer = await original?.(...args)
        const isIt = verb !== 'apply' || JSON.stringify(args).includes('"park"')
        if (isIt && Array.isArray(answer) && (verb === 'list' || answer.length > 0)) {
          there.open()
          await sent.opened
        }
        return answer
      }
      return { ...store, [chapter ?? '']: { ...inner, [verb ?? '']: slow } }
    }
    const sent = gate()
    const { durably, another, env } = await setup(world, { wrap: (store) => wrap(sendAfter(store)), pollingInterval: 10 * HOUR })
    const release = when === 'held' ? faults.hold(call) : () => {}
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('go'))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    if (when === 'answered') await there.opened
    await another().signal(id, 'go', 'sent')
    sent.open()
    release()
    // Another process cannot wake this one; a parked run would be found by its poll.
    await env.advance(when === 'answered' && call === 'apply.park' ? 11 * HOUR : 1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'sent' })
  })

  test('survives a lost worker on both sides of the record', async () => {
    for (const silent of ['apply.recordStep', 'apply.complete'] as const) {
      const mortal = faulty()
      const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
      const define = (instance: typeof durably) => instance.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('go'))
      const { id } = await define(durably).trigger(null)
      mortal.faults.fail(silent, { when: 'silent' })
      await durably.signal(id, 'go', 'value')
      durably.start()
      await env.advance(100)
      mortal.faults.die()
      const heir = another()
      define(heir)
      heir.start()
      await env.advance(40_000)
      expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 'value' })
    }
  })

  test('a database that cannot be asked for the signals is no failure of the job', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    faults.fail('signals.list', { when: 'before', times: 3 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('go'))
    const { id } = await job.trigger(null)
    await durably.signal(id, 'go', 'value')
    durably.start()
    await env.advance(20_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'value' })
  })

  test('cancel ends a waiting run at once; a signal after that is refused', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('go'))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.cancel(id)).toBe('cancelled')
    await expect(durably.signal(id, 'go', 1)).rejects.toMatchObject({ code: 'run_ended' })
  })
})
