// Calls inside calls: what may wait is refused inside a step, and nothing that a job calls waits for the job itself.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import type { JobContext, StepContext, Triggers } from '../../src/model/job.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS, type World } from './world.ts'

const anything = z.unknown()
const LEASE_MS = 30_000

type Call = (ctx: JobContext, child: Triggers<unknown, unknown>) => Promise<unknown>

const WAITING: [string, Call][] = [
  ['sleep', (ctx) => ctx.sleep('inner', 10)],
  ['sleepUntil', (ctx) => ctx.sleepUntil('inner', 10)],
  ['waitFor', (ctx) => ctx.waitFor('inner')],
  ['invoke', (ctx, child) => ctx.invoke(child, null, { name: 'inner' })],
  ['run with retry', (ctx) => ctx.run('inner', { retry: retry.fixed({ maxAttempts: 2 }) }, () => 1)],
  ['run with effect and nobody to ask', (ctx) => ctx.run('inner', { effect: 'once' }, () => 1)],
]

const AROUND: [string, (ctx: JobContext, inner: () => Promise<unknown>) => Promise<unknown>][] = [
  ['run', (ctx, inner) => ctx.run('outer', inner)],
  ['run, after a while', (ctx, inner) => ctx.run('outer', () => new Promise((resolve) => setImmediate(resolve)).then(inner))],
  ['stream', (ctx, inner) => ctx.stream('outer', inner)],
]

/** Another instance, in a runtime without AsyncLocalStorage. */
function withoutScopes({ env, another }: World): Durably {
  const { scope: _, ...plain } = env
  return another({ env: plain })
}

describe.each(WORLDS)('steps inside steps on %s', (world) => {
  describe.each(AROUND)('inside %s', (_, around) => {
    test.each(WAITING)('%s is refused at once, and uncaught it fails the run', async (_, call) => {
      const { durably, soon } = await setup(world)
      const child = durably.defineJob({ name: 'child', input: anything }, async () => 'child')
      const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => around(ctx, () => call(ctx, child)))
      const { id } = await job.trigger(null)
      await soon(durably.processUntilIdle())
      expect(await durably.getRun(id)).toMatchObject({
        status: 'failed',
        failure: {
          code: 'nested_step',
          message: expect.stringMatching(/"inner" was called inside step "outer".*call it before, after or beside that step/),
        },
      })
      expect(await child.getRuns()).toEqual([])
    })
  })

  test('caught inside the step, it is an error like any other; the name is free to be called beside it', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const code = await ctx.run('outer', () => ctx.sleep('nap', 10).catch((error: { code: string }) => error.code))
      await ctx.sleep('nap', 10)
      return code
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'nested_step' })
  })

  test.each([
    ['run', (ctx: JobContext) => ctx.run('inner', () => 'value')],
    ['stream', (ctx: JobContext) => ctx.stream('inner', async () => 'value')],
    [
      'run with effect and reconcile',
      (ctx: JobContext) => ctx.run('inner', { effect: 'once', reconcile: () => 'run again' }, () => 'value'),
    ],
  ])('a plain %s inside a step is recorded before it, and is not run again when the outer one is', async (_, inner) => {
    const { durably, soon } = await setup(world)
    let outers = 0
    let inners = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('outer', async () => {
        const value = await inner(ctx)
        inners = (await durably.getSteps(ctx.runId)).filter(({ name }) => name === 'inner').length
        if (++outers === 1) throw new Error('once more')
        return value
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'value' })
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      'inner completed',
      'outer completed',
      'outer failed',
    ])
    expect(inners).toBe(1)
  })

  test('without async scopes what is called before the first await of a step is refused as well', async () => {
    const built = await setup(world)
    const durably = withoutScopes(built)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('outer', async () => void (await ctx.sleep('inner', 10))),
    )
    const { id } = await job.trigger(null)
    await built.soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'nested_step' } })
  })

  test('without async scopes siblings of a step may wait', async () => {
    const built = await setup(world)
    const durably = withoutScopes(built)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      Promise.all([ctx.run('work', async () => 'done'), ctx.sleep('nap', 10)]),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await built.env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })
})

/** Ends when it is told to. */
function untilAborted({ signal }: StepContext): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe.each(WORLDS)('the end of a step on %s is the end of what is nested in it', (world) => {
  test.each([
    ['honours its signal', untilAborted],
    ['ignores its signal', () => new Promise<never>(() => {})],
  ])('a nested step that %s is over with the time of the outer one', async (_, inner) => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx
        .run('outer', { timeout: 50 }, () => ctx.run('middle', () => ctx.run('inner', { timeout: '1h' }, inner)))
        .catch(({ message }) => message),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: expect.stringMatching(/"outer".*50 ms/) })
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual(['outer failed'])
  })

  test('nothing nested starts or is recorded after the time of the outer one', async () => {
    const { durably, env } = await setup(world)
    const [early, late] = [gate(), gate()]
    const codes: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const outer = ctx.run('outer', { timeout: 50 }, async () => {
        const slow = ctx.run('slow', () => early.opened).catch(({ code }) => codes.push(code))
        await late.opened
        await ctx.run('late', () => codes.push('started')).catch(({ code }) => codes.push(code))
        await slow
      })
      await outer.catch(({ code }) => codes.push(code))
      early.open()
      late.open()
      await ctx.run('next', () => 1)
      await ctx.sleep('nap', '1h')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(codes).toEqual(['timeout', 'timeout', 'timeout'])
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual(['outer failed', 'next completed'])
    expect(await durably.getRun(id)).toMatchObject({ phase: 'sleeping' })
  })

  test('a time limit inside a limited step is its own', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('outer', { timeout: 500 }, () => ctx.run('inner', { timeout: 50 }, untilAborted).catch(({ message }) => message)),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: expect.stringMatching(/"inner".*50 ms/) })
  })

  test('what a step makes of nested calls that a stop turned away is not its result; an honest sibling has one', async () => {
    const { durably, env, another, within } = await setup(world)
    const define = (instance: Durably, wait: (step: StepContext) => unknown) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        const all = ctx.run('all', async () => {
          const calls = [ctx.run('r0', () => 0), ctx.run('r1', async (step) => void (await wait(step)))]
          await Promise.allSettled(calls)
          return (await Promise.allSettled([...calls, ctx.run('r2', () => 2)])).map(({ status }) => status)
        })
        const honest = ctx.run('honest', (step) => Promise.resolve(wait(step)).catch(() => 'as far as I came'))
        return Promise.all([all, honest])
      })
    const { id } = await define(durably, untilAborted).trigger(null)
    durably.start()
    await env.advance(100)
    await within(2000, durably.stop({ timeout: 10 }))
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`).sort()).toEqual(['honest completed', 'r0 completed'])
    const heir = another()
    define(heir, () => undefined)
    heir.start()
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject({
      status: 'completed',
      output: [['fulfilled', 'fulfilled', 'fulfilled'], 'as far as I came'],
    })
  })
})

/** A step that waits for what the run waits for: nobody can see it. */
async function entangled(world: (typeof WORLDS)[number]) {
  const built = await setup(world)
  const heard = listenTo(built.durably)
  const job = built.durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    const nap = ctx.sleep('nap', 10)
    await ctx.run('knot', () => nap)
  })
  const { id } = await job.trigger(null)
  built.durably.start()
  await built.env.advance(100)
  return { ...built, heard, id }
}

describe.each(WORLDS)('a run that waits for itself on %s', (world) => {
  test('says so after a lease, once', async () => {
    const { env, durably, heard, id } = await entangled(world)
    await env.advance(LEASE_MS / 2)
    expect(ofType(heard, 'worker:error')).toEqual([])
    await env.advance(5 * LEASE_MS)
    expect(ofType(heard, 'worker:error')).toMatchObject([
      {
        runId: id,
        cause: {
          code: 'run_stuck',
          message: expect.stringMatching(/job "job" waits for \["nap"\].*steps \["knot"\] go on; do not await it inside/),
        },
      },
    ])
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
  })

  test('is ended by cancel', async () => {
    const { env, durably, id } = await entangled(world)
    await durably.cancel(id)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('does not hold up stop({ timeout })', async () => {
    const { durably, within } = await entangled(world)
    await within(2000, durably.stop({ timeout: 0 }))
  })

  test('a cancelled run whose step ignores its signal is reported too', async () => {
    const { durably, env } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'deaf', input: anything }, (ctx) => ctx.run('deaf', () => new Promise(() => {})))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(2 * LEASE_MS)
    expect(ofType(heard, 'worker:error')).toEqual([])
    await durably.cancel(id)
    await env.advance(3 * LEASE_MS)
    expect(ofType(heard, 'worker:error')).toMatchObject([
      {
        runId: id,
        cause: {
          code: 'run_stuck',
          message: expect.stringMatching(/cancel_requested.*steps \["deaf"\] go on; let them heed their signal/),
        },
      },
    ])
  })
})

describe.each(WORLDS)('the instance called from inside a job on %s', (world) => {
  test.each([
    ['the job', (_: JobContext, wait: () => Promise<unknown>) => wait()],
    ['a step', (ctx: JobContext, wait: () => Promise<unknown>) => ctx.run('step', wait)],
  ])('triggerAndWait inside %s is refused: it would hold the slot that the other job needs', async (_, inside) => {
    const { durably, soon } = await setup(world, { concurrency: 1 })
    const child = durably.defineJob({ name: 'child', input: anything }, async () => 'child')
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => inside(ctx, () => child.triggerAndWait(null)))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'nested_wait', message: expect.stringMatching(/would hold its slot while .*; use ctx.invoke$/) },
    })
    expect(await child.getRuns()).toEqual([])
  })

  test('triggerAndWait in what a job left behind is no longer inside it', async () => {
    const { durably, soon } = await setup(world)
    const later = gate()
    const child = durably.defineJob({ name: 'child', input: anything }, async () => 'child')
    let answer: Promise<unknown> = Promise.resolve()
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      answer = later.opened.then(() => child.triggerAndWait(null))
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    later.open()
    durably.start()
    expect(await soon(answer)).toMatchObject({ output: 'child' })
  })

  test.each([
    ['processOne', (durably: Durably) => durably.processOne()],
    ['processUntilIdle', (durably: Durably) => durably.processUntilIdle()],
  ])('%s executes the others', async (_, process) => {
    const { durably, soon } = await setup(world, { concurrency: 1 })
    const child = durably.defineJob({ name: 'child', input: anything }, (ctx) => ctx.run('a step of its own', () => 'child'))
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('step', async (_: StepContext) => {
        const { id } = await child.trigger(null)
        await process(durably)
        return (await child.getRun(id))?.output
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processOne())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'child' })
  })

  test('stop() does not wait for the active runs, of which the caller is one; they end as usual', async () => {
    const { durably, env } = await setup(world, { concurrency: 2 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('last', async () => {
        await durably.stop()
        return 'stopped'
      }),
    )
    const ids = (await job.batchTrigger([{ payload: null }, { payload: null }])).map(({ id }) => id)
    durably.start()
    await env.advance(1000)
    for (const id of ids) expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'stopped' })
  })
})
