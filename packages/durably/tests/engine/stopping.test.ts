import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Store } from '../../src/store/store.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, typesOf } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

/** Rejects when the signal aborts, as `fetch` does. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe.each(WORLDS)('stop on %s', (world) => {
  test('waits for the active runs and claims nothing more (000 §ワーカー)', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 2 })
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => finish.opened)
      await ctx.run('two', () => {})
    })
    const runs = await job.batchTrigger([{ payload: 1 }, { payload: 2 }, { payload: 3 }])
    durably.start()
    await env.advance(10)
    let stopped = false
    const stopping = durably.stop().then(() => {
      stopped = true
    })
    await env.advance(60_000)
    expect(stopped).toBe(false)
    finish.open()
    await soon(stopping)
    const statuses = await Promise.all(runs.map(async ({ id }) => (await durably.getRun(id))?.status))
    expect(statuses).toEqual(['completed', 'completed', 'pending'])
  })

  test('without a worker, or twice, is nothing special', async () => {
    const { durably, soon } = await setup(world)
    await soon(durably.stop())
    durably.start()
    await soon(Promise.all([durably.stop(), durably.stop()]))
  })

  test('followed by start() at once: the worker goes on, and both calls are answered', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    durably.start()
    await env.advance(10)
    const stopped = durably.stop()
    durably.start()
    await soon(stopped)
    const { id } = await job.trigger(null)
    await env.advance(0)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('followed by start() while a claim is under way never makes two loops claim at once', async () => {
    const answer = gate()
    let claims = 0
    const wrap = (store: Store): Store => ({
      ...store,
      runs: {
        ...store.runs,
        async claim(request) {
          claims++
          await answer.opened
          return store.runs.claim(request)
        },
      },
    })
    const { durably, env, soon } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    await job.batchTrigger([{ payload: 1 }, { payload: 2 }])
    durably.start()
    await env.advance(10)
    const stopped = durably.stop()
    durably.start()
    await env.advance(10)
    expect(claims).toBe(1)
    answer.open()
    await soon(stopped)
    await env.advance(10)
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(2)
  })

  test('leaves the database open', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    durably.start()
    await soon(durably.stop())
    const { id } = await job.trigger(null)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
  })
})

describe.each(WORLDS)('stop({ timeout }) on %s', (world) => {
  test('gives a run back whose claim is answered after it', async () => {
    const answer = gate()
    const wrap = (store: Store): Store => ({
      ...store,
      runs: {
        ...store.runs,
        async claim(request) {
          const claimed = await store.runs.claim(request)
          await answer.opened
          return claimed
        },
      },
    })
    const { durably, env, within } = await setup(world, { wrap })
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      calls++
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(1000, durably.stop({ timeout: 100 }))
    answer.open()
    await env.advance(10)
    expect(calls).toBe(0)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
  })

  test('does not wait for a database that does not answer the duties of the process', async () => {
    const { faults, wrap } = faulty()
    const { durably, env, within } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await durably.schedule({ job, every: '10s' })
    durably.start()
    await env.advance(100)
    faults.fail('cluster.lead', { when: 'silent', times: 100 })
    await env.advance(11_000)
    await within(2000, durably.stop({ timeout: 0 }))
    expect(faults.count('cluster.lead')).toBe(1)
  })

  test('lets a run finish that ends in time', async () => {
    const { durably, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('short', () => new Promise<void>((resolve) => void env.timer(300, resolve))),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(400, durably.stop({ timeout: 1000 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('then aborts the signal with reason `shutdown` and gives the run back, so another takes it at once', async () => {
    const { durably, another, env, within, soon } = await setup(world)
    const heard = listenTo(durably)
    const reason = gate<unknown>()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('done', () => ctx.progress(1, 2))
      await ctx.run('long', ({ signal }) => {
        signal.addEventListener('abort', () => reason.open(signal.reason))
        return untilAborted(signal)
      })
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(1100, durably.stop({ timeout: 1000 }))

    expect(await reason.opened).toMatchObject({ code: 'shutdown' })
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', progress: { current: 1, total: 2 }, recoveries: 0 })
    expect(typesOf(heard).slice(-2)).toEqual(['step:start', 'run:release'])
    const heir = another()
    const ran: string[] = []
    heir.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('done', () => void ran.push('done'))
      await ctx.run('long', () => void ran.push('long'))
    })
    await soon(heir.processUntilIdle())
    expect(ran).toEqual(['long'])
    expect(await durably.getSteps(id)).toMatchObject([
      { name: 'done', status: 'completed' },
      { name: 'long', status: 'completed' },
    ])
  })

  test('a step that completes although it was aborted is recorded; the next one does not start', async () => {
    const { durably, env, within } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', async ({ signal }) => {
        await untilAborted(signal).catch(() => {})
        ran.push('one')
      })
      await ctx.run('two', () => void ran.push('two'))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(1000, durably.stop({ timeout: 10 }))
    expect(ran).toEqual(['one'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', currentStepIndex: 1 })
  })

  test('a job that ends well in spite of the abort is completed', async () => {
    const { durably, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('one', async ({ signal }) => {
        await untilAborted(signal).catch(() => {})
        return 'saved'
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(1000, durably.stop({ timeout: 10 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'saved' })
  })

  test('a job that swallows the rejection of ctx is released, not completed with half its work', async () => {
    const { durably, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', ({ signal }) => untilAborted(signal)).catch(() => {})
      await ctx.run('two', () => {}).catch(() => {})
      return 'as if'
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(1000, durably.stop({ timeout: 10 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', currentStepIndex: 0 })
  })

  test('a function that ignores its abort keeps its lease, is not beaten for any more, and is reaped', async () => {
    const { durably, another, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('deaf', () => new Promise<void>(() => {})))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(700, durably.stop({ timeout: 100 }))
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })

    const heir = another()
    heir.defineJob({ name: 'job', input: anything }, async () => 'taken over')
    heir.start()
    await env.advance(31_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'taken over' })
  })

  test('a function that settles after stop() has answered still gives its run back', async () => {
    const { durably, env, within } = await setup(world)
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('deaf', () => finish.opened)
      await ctx.run('never', () => {})
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await within(700, durably.stop({ timeout: 100 }))
    finish.open()
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', currentStepIndex: 1 })
  })
})

describe.each(WORLDS)('asyncDispose on %s', (world) => {
  test('waits for the active runs, then closes what durably opened', async () => {
    const { durably, soon, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => ctx.run('step', () => 'done'))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(0)
    await soon(durably[Symbol.asyncDispose]())
    // Memory was handed in, so it is not ours to close; the file was opened by the dialect that was handed in.
    if (world === 'sqlite') await expect(durably.getRun(id)).rejects.toMatchObject({ code: 'store_closed' })
    else expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('leaves a store alone that was handed in, so that instances can share it', async () => {
    let closed = false
    const wrap = (store: Store): Store => ({
      ...store,
      close: async () => {
        closed = true
      },
    })
    const { durably, soon } = await setup(world, { wrap })
    await soon(durably[Symbol.asyncDispose]())
    expect(closed).toBe(false)
  })
})
