import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { logOf } from './run-log.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('parallel steps on %s', (world) => {
  test('steps under Promise.all run at the same time and are all recorded', async () => {
    const { durably, soon } = await setup(world)
    const both = [gate(), gate()] as const
    const job = durably.defineJob({ name: 'parallel', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('a', async () => {
          both[0].open()
          await both[1].opened
          return 'a'
        }),
        ctx.run('b', async () => {
          both[1].open()
          await both[0].opened
          return 'b'
        }),
      ]),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: ['a', 'b'], currentStepIndex: 2 })
    expect((await durably.getSteps(id)).map(({ name, index }) => [name, index])).toEqual([
      ['a', 0],
      ['b', 1],
    ])
  })

  test('log lines of parallel steps belong to the step that wrote them, also through nested calls', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
    const job = durably.defineJob({ name: 'logs', input: anything }, async (ctx) => {
      const speak = async (name: string) => {
        await turn()
        ctx.log.info(`in ${name}`)
      }
      ctx.log.info('outside')
      await Promise.all(
        ['a', 'b', 'c'].map((name) =>
          ctx.run(name, async () => {
            ctx.log.warn(`in ${name}`, { name })
            await speak(name)
          }),
        ),
      )
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())

    const lines = ofType(heard, 'log:write')
    expect(lines).toHaveLength(7)
    for (const { stepName, message } of lines) expect(message).toBe(stepName === null ? 'outside' : `in ${stepName}`)
  })

  test('when one step fails its siblings in flight have a moment to end, and are recorded before the run fails', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const slow = gate()
    const failed = gate()
    const job = durably.defineJob({ name: 'siblings', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('slow', async () => {
          await slow.opened
          return 'worth keeping'
        }),
        ctx.run('bad', () => {
          throw new Error('bad')
        }),
      ]),
    )
    durably.on('step:fail', () => failed.open())
    const { id } = await job.trigger(null)
    const done = durably.processUntilIdle()
    await soon(failed.opened)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    slow.open()
    await soon(done)

    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'bad', currentStepIndex: 1 })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'bad' }])
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual(['slow completed', 'bad failed'])
  })

  test('the signals of siblings in flight abort when the job has failed; one that stops then has not failed', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'siblings', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('first', () => {
          throw new Error('first')
        }),
        ctx.run('second', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
      ]),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'first' })
    expect((await durably.getSteps(id)).map(({ name, error }) => `${name}: ${error}`)).toEqual(['first: first'])
    expect(ofType(heard, 'step:fail').map(({ stepName }) => stepName)).toEqual(['first'])
  })

  test('a sibling that ignores its signal is left behind: the run fails soon, and what it does later is refused', async () => {
    const { durably, env } = await setup(world, { concurrency: 1 })
    const late = gate<string>()
    const reasons: unknown[] = []
    const refused = gate<unknown>()
    const job = durably.defineJob({ name: 'siblings', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('bad', () => {
          throw new Error('bad')
        }),
        ctx.run('deaf', async () => {
          ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason.code))
          await late.opened
          await ctx.run('inner', () => {}).catch(refused.open)
          return 'too late'
        }),
      ]),
    )
    const other = durably.defineJob({ name: 'other', input: anything }, async () => 'done')
    const { id } = await job.trigger(null)
    const { id: otherId } = await other.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(reasons).toEqual(['job_failed'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'bad' })
    expect(await durably.getRun(otherId)).toMatchObject({ status: 'completed' })
    late.open('now')
    await env.advance(1000)
    expect(await refused.opened).toMatchObject({ code: 'job_failed' })
    expect((await durably.getSteps(id)).map(({ name }) => name)).toEqual(['bad'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'bad' })
  })

  test('a lease that is lost while siblings are asked to stop is reported as such', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'siblings', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('bad', () => Promise.reject(new Error('bad'))),
        ctx.run('deaf', () => {
          ctx.signal.addEventListener('abort', () => faults.fail('apply.fail', { when: 'before', times: 1000 }))
          return new Promise(() => {})
        }),
      ]),
    )
    await job.trigger(null)
    durably.start()
    await env.advance(40_000)
    expect(ofType(heard, 'worker:error').map(({ cause }) => (cause as { code: string }).code)).toContain('lease_lost')
    expect(ofType(heard, 'worker:error').map(({ cause }) => (cause as { code: string }).code)).not.toContain('job_failed')
  })

  test('an effect that was left behind is asked about, by a policy and by retry()', async () => {
    const { durably, env } = await setup(world)
    let charges = 0
    let noteCharge = () => {}
    const charged = new Promise<void>((resolve) => {
      noteCharge = resolve
    })
    const job = durably.defineJob({ name: 'siblings', input: anything, retry: retry.fixed({ maxAttempts: 2 }) }, (ctx) =>
      Promise.all([
        ctx.run('charge', { effect: 'once' }, () => {
          charges++
          noteCharge()
          return new Promise(() => {})
        }),
        ctx.run('bad', async () => {
          await charged
          if (ctx.attempt === 1) throw new Error('bad')
        }),
      ]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(charges).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'waiting', attempts: 1 })
  })

  test('a job that returns leaves nobody behind', async () => {
    const { durably, env } = await setup(world)
    const slow = gate()
    const job = durably.defineJob({ name: 'floating', input: anything }, async (ctx) => {
      void ctx.run('slow', () => slow.opened)
      return 'done'
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    slow.open()
    await env.advance(1000)
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'slow', status: 'completed' }])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a sibling that was recorded is not run again when the run is retried', async () => {
    const { durably, soon } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'siblings', input: anything }, (ctx) =>
      Promise.all(
        ['good', 'bad'].map((name) =>
          ctx.run(name, () => {
            ran.push(name)
            if (name === 'bad' && ran.length < 3) throw new Error('bad')
            return name
          }),
        ),
      ),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    expect(ran).toEqual(['good', 'bad', 'bad'])
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: ['good', 'bad'] })
  })

  test('a step that nobody awaits does not crash the process when it fails, and is awaited before the run ends', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'floating', input: anything }, async (ctx) => {
      void ctx.run('forgotten', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('nobody listens')
      })
      return 'done'
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await new Promise((resolve) => setImmediate(resolve))

    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 'done' })
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'forgotten', status: 'failed' }])
  })

  test('ctx.run after the job has ended rejects, starts nothing and records nothing', async () => {
    const { durably, soon } = await setup(world)
    const later = gate<() => Promise<unknown>>()
    let started = false
    const job = durably.defineJob({ name: 'late', input: anything }, (ctx) => {
      later.open(() =>
        ctx.run('late', () => {
          started = true
        }),
      )
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    await expect((await later.opened)()).rejects.toMatchObject({
      code: 'context_closed',
      message: expect.stringMatching(/await every call of ctx$/),
    })
    expect(started).toBe(false)
    expect(await durably.getSteps(id)).toEqual([])
  })

  test('ctx.progress and ctx.log after the job has ended do no harm', async () => {
    const { durably, soon, env } = await setup(world)
    const late = gate<() => void>()
    const job = durably.defineJob({ name: 'late', input: anything }, (ctx) => {
      late.open(() => {
        ctx.progress(99)
        ctx.log.error('too late')
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const call = await late.opened
    call()
    await env.advance(5000)

    expect(await job.getRun(id)).toMatchObject({ status: 'completed', progress: null })
  })
})

describe('parallel steps where the runtime has no async scopes', () => {
  test('a line is attributed to the step while one is in flight, to none while several are; the step’s own log is always exact', async () => {
    const { scope: _, ...env } = virtualEnv()
    const durably = createDurably({ store: memoryStore({ env }), env })
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'scopeless', input: anything }, async (ctx) => {
      await ctx.run('alone', () => ctx.log.info('one in flight'))
      const both = ['a', 'b'].map((name) =>
        ctx.run(name, async ({ log }) => {
          await env.idle()
          ctx.log.info('two in flight')
          log.info(`own ${name}`)
        }),
      )
      await Promise.all(both)
    })
    await job.trigger(null)
    await durably.processUntilIdle()

    const lines = ofType(heard, 'log:write').map(({ message, stepName }) => `${message}: ${stepName}`)
    expect(lines.toSorted()).toEqual(['one in flight: alone', 'own a: a', 'own b: b', 'two in flight: b', 'two in flight: null'])
  })
})

test('a transaction is undone when the steps of a job that threw are left behind', async () => {
  const { durably, env } = await setup('sqlite')
  const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => {
    const slow = ctx.transaction('slow', { timeout: 3000 }, () => new Promise<void>((resolve) => env.timer(1500, resolve)))
    const next = ctx.transaction('next', async () => 'too late')
    const boom = new Promise((_, reject) => env.timer(100, () => reject(new Error('boom'))))
    return Promise.all([slow, next, boom])
  })
  const { id } = await job.trigger(null)
  durably.start()
  await env.advance(700)
  expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'boom' })
  await env.advance(3000)
  expect(await durably.getSteps(id)).toEqual([])
})

describe('a step that throws beside an open transaction', () => {
  const boom = () => Promise.reject(new Error('boom'))

  test('fails the run at once: the signal of the transaction aborts, it is rolled back after a moment, and both are in order', async () => {
    const { durably, store, env } = await setup('sqlite')
    const heard = listenTo(durably)
    const reasons: unknown[] = []
    let noteBegin = () => {}
    const begun = new Promise<void>((resolve) => {
      noteBegin = resolve
    })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => {
      const slow = ctx.transaction('slow', async () => {
        noteBegin()
        ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason.code))
        await new Promise<never>(() => {})
      })
      const next = ctx.transaction('next', async () => 'too late')
      return Promise.all([slow, next, ctx.run('bad', { retry: retry.none() }, () => begun.then(boom))])
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(reasons).toEqual(['job_failed'])
    await env.advance(500)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'boom' })
    expect((await durably.getSteps(id)).map(({ name, error }) => `${name}: ${error}`)).toEqual(['bad: boom'])
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: 'bad' }])
    expect(typesOf(await logOf(store, id)).slice(-2)).toEqual(['step:fail', 'run:fail'])
    expect(heard.map(({ type }) => type).filter((type) => /:fail$/.test(type))).toEqual(['step:fail', 'run:fail'])
  })

  test('lets a job that catches it go on; the transaction is recorded first, then the failed step', async () => {
    const { durably, env } = await setup('sqlite')
    const end = gate()
    const caught = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const slow = ctx.transaction('slow', () => end.opened.then(() => 'worth keeping'))
      await ctx.run('bad', boom).catch(() => caught.open())
      return slow
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    await caught.opened
    end.open()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'worth keeping' })
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual(['slow completed', 'bad failed'])
  })

  test('is reported when its record cannot be stored; the job has its own error', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup('sqlite', { wrap })
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => {
      faults.fail('apply.recordStep', { when: 'before', error: new DurablyError('store_rejected', 'no'), times: 1 })
      return Promise.all([ctx.transaction('slow', () => new Promise<never>(() => {})), ctx.run('bad', boom)])
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'boom' })
    expect(ofType(heard, 'worker:error')).toMatchObject([{ cause: { code: 'store_rejected' }, runId: id }])
  })

  test('waits for its next try as always', async () => {
    const { durably, env } = await setup('sqlite')
    let tries = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      Promise.all([
        ctx.transaction('slow', () => new Promise<string>((resolve) => env.timer(1000, () => resolve('done')))),
        ctx.run('bad', { retry: retry.fixed({ maxAttempts: 3, delay: 100 }) }, () => (++tries < 2 ? boom() : 'better')),
      ]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: ['done', 'better'] })
    expect(tries).toBe(2)
  })
})
