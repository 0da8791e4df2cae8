import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('cancel on %s', (world) => {
  test('a pending run is cancelled at once and never starts', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    expect(await durably.cancel(id)).toBe('cancelled')
    expect(await soon(durably.processUntilIdle())).toBe(0)
    const run = await durably.getRun(id)
    expect(run).toMatchObject({ status: 'cancelled', output: null, error: null })
    expect(run?.cancelRequestedAt).not.toBeNull()
    expect(run?.finishedAt).not.toBeNull()
    expect(typesOf(heard)).toEqual(['run:trigger', 'run:cancel'])
  })

  test('the signal of a run of this process aborts at once, its step in flight is not a failure', async () => {
    const { durably, env, soon } = await setup(world)
    const heard = listenTo(durably)
    const reason = gate<unknown>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => {
        signal.addEventListener('abort', () => reason.open(signal.reason))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))))
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    expect(await durably.cancel(id)).toBe('requested')
    expect(await soon(reason.opened)).toMatchObject({ code: 'cancel_requested' })
    await env.idle()

    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled', error: null })
    expect(await durably.getSteps(id)).toEqual([])
    expect(typesOf(heard).slice(1)).toEqual(['run:start', 'step:start', 'run:cancel'])
  })

  test('between two steps: what is recorded stays, no step starts after it', async () => {
    const { durably, env } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => void ran.push('one'))
      await durably.cancel(ctx.runId)
      await ctx.run('two', () => void ran.push('two'))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    expect(ran).toEqual(['one'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled', currentStepIndex: 1 })
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'one', status: 'completed' }])
  })

  test('a run of another process hears of it with its next step, without a read of its own', async () => {
    const watched = faulty()
    const { durably, another, env } = await setup(world, { wrap: watched.wrap })
    const ran: string[] = []
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => finish.opened)
      await ctx.run('two', () => void ran.push('two'))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    expect(await another().cancel(id)).toBe('requested')
    finish.open()
    await env.advance(0)
    expect(ran).toEqual([])
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled', currentStepIndex: 1 })
    expect(watched.faults.count('runs.get')).toBe(1)
  })

  test('a long step of another process hears of it with the next heartbeat', async () => {
    const { durably, another, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await another().cancel(id)
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
  })

  test('a run that has ended stays as it is', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: z.boolean() }, async (_, bad) => {
      if (bad) throw new Error('bad')
      return 1
    })
    const completed = await job.trigger(false)
    const failed = await job.trigger(true)
    await soon(durably.processUntilIdle())
    for (const { id } of [completed, failed]) expect(await durably.cancel(id)).toBe('refused')
    expect(await durably.getRun(completed.id)).toMatchObject({ status: 'completed', output: 1, cancelRequestedAt: null })
    expect(await durably.getRun(failed.id)).toMatchObject({ status: 'failed' })
    expect(ofType(heard, 'run:cancel')).toEqual([])
  })

  test('twice is the same as once', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    expect(await durably.cancel(id)).toBe('cancelled')
    expect(await durably.cancel(id)).toBe('refused')
    await expect(durably.cancel('nobody')).rejects.toMatchObject({ code: 'run_not_found' })
  })

  test('completed wins over a late cancel: one terminal event, the row not overwritten', async () => {
    const { durably, another, store, env } = await setup(world)
    const ids: string[] = []
    const heard = listenTo(durably)
    // Elsewhere: this process does not know of it until its next write, and the next write is the ending.
    const elsewhere = another()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await elsewhere.cancel(ctx.runId)
      return 'finished'
    })
    const { id } = await job.trigger(null)
    ids.push(id)
    durably.start()
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'finished' })
    expect(typesOf(heard).filter((type) => type === 'run:complete' || type === 'run:cancel')).toEqual(['run:complete'])
    expect(typesOf(await store.events.list(id)).at(-1)).toBe('run:complete')
  })

  test('a run that was asked to stop while its worker was stopping does not start again', async () => {
    const { durably, another, env, within } = await setup(world)
    const ran: string[] = []
    const aborted = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('deaf', ({ signal }) => {
        ran.push('deaf')
        return new Promise((_, reject) => signal.addEventListener('abort', () => void aborted.opened.then(() => reject(signal.reason))))
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    const stopped = durably.stop({ timeout: 10 })
    await env.advance(100)
    expect(await durably.cancel(id)).toBe('requested')
    aborted.open()
    await within(1000, stopped)
    const heir = another()
    heir.defineJob({ name: 'job', input: anything }, async () => void ran.push('heir'))
    heir.start()
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
    expect(ran).toEqual(['deaf'])
  })

  test('a lost run that was asked to stop ends as cancelled when its lease is over, and its steps go with deleteRun (peer P25)', async () => {
    const mortal = faulty()
    const { durably, another, env, store } = await setup(world, { wrap: mortal.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => 1)
      await ctx.run('two', () => new Promise<void>(() => {}))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    mortal.faults.die()
    const heir = another()
    const heard = listenTo(heir)
    heir.defineJob({ name: 'job', input: anything }, async () => 'must not run')
    expect(await heir.cancel(id)).toBe('requested')
    heir.start()
    await env.advance(31_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'cancelled' })
    expect(typesOf(heard)).toEqual(['run:cancel'])
    await heir.deleteRun(id)
    expect(await store.steps.list(id)).toEqual([])
  })
})
