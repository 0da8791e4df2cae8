import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('failing on %s', (world) => {
  test('a step that throws fails the run at once; nothing retries by itself (000 §失敗と再実行)', async () => {
    const { durably, env, soon } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'fails', input: anything }, async (ctx) => {
      await ctx.run('bad', () => {
        ran.push('bad')
        throw new TypeError('no good')
      })
      await ctx.run('never', () => ran.push('never'))
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(120_000)

    expect(ran).toEqual(['bad'])
    const run = await job.getRun(id)
    expect(run).toMatchObject({ status: 'failed', error: 'no good', reason: 'error', output: null, currentStepIndex: 0 })
    expect(run?.failure).toMatchObject({ name: 'TypeError', message: 'no good', stack: expect.stringContaining('failing.test.ts') })
    expect(run?.finishedAt).not.toBeNull()
    await soon(durably.stop())
  })

  test('a job that throws outside of its steps fails with an empty failedStepName', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'fails', input: anything }, async (ctx) => {
      await ctx.run('good', () => 1)
      throw new Error('outside')
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(ofType(heard, 'run:fail')).toMatchObject([{ error: 'outside', failedStepName: '' }])
  })

  test('failedStepName names the step whose error ended the run, also when the job wrapped it', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'fails', input: anything }, async (ctx) => {
      await ctx
        .run('caught', () => {
          throw new Error('caught')
        })
        .catch(() => {})
      try {
        await ctx.run('culprit', () => {
          throw new Error('inner')
        })
      } catch (cause) {
        throw new Error('outer', { cause })
      }
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect(ofType(heard, 'run:fail')).toMatchObject([{ error: 'outer', failedStepName: 'culprit' }])
    expect((await durably.getRun(id))?.failure).toMatchObject({ message: 'outer', cause: { message: 'inner' } })
  })

  test('a synchronous throw of the job itself is a failure like any other', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: anything }, () => {
      throw new Error('synchronously')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'synchronously' })
  })

  test('output that fails its schema fails the run with the details, and keeps its steps (000 §ジョブとステップ)', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const output = z.object({ syncedCount: z.number() })
    const job = durably.defineJob({ name: 'bad-output', input: anything, output }, async (ctx) => {
      await ctx.run('work', () => 1)
      return { syncedCount: 'many' } as never
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    const run = await job.getRun(id)
    expect(run).toMatchObject({ status: 'failed', reason: 'output_invalid', output: null, currentStepIndex: 1 })
    expect(run?.error).toContain('syncedCount')
    expect(run?.failure).toMatchObject({ code: 'output_invalid' })
    expect(ofType(heard, 'run:fail')).toMatchObject([{ failedStepName: '' }])
    expect(ofType(heard, 'run:complete')).toEqual([])
  })

  test('the parsed output is what is stored', async () => {
    const { durably, soon } = await setup(world)
    const output = z.object({ count: z.coerce.number(), kind: z.string().default('plain') })
    const job = durably.defineJob({ name: 'parsed', input: anything, output }, async () => ({ count: '3' }))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: { count: 3, kind: 'plain' } })
  })

  test('a schema that throws instead of returning issues fails the run, not the worker', async () => {
    const { durably, soon } = await setup(world)
    const output = z.unknown().transform(() => {
      throw new Error('a broken schema')
    })
    const broken = durably.defineJob({ name: 'broken', input: anything, output }, async () => 1)
    const fine = durably.defineJob({ name: 'fine', input: anything }, async () => 2)
    const { id } = await broken.trigger(null)
    const other = await fine.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'a broken schema' })
    expect(await durably.getRun(other.id)).toMatchObject({ status: 'completed' })
  })
})

describe.each(WORLDS)('retry on %s', (world) => {
  test('only a failed run can be retried; the message says what it is instead', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: z.boolean() }, async (_, bad) => {
      if (bad) throw new Error('bad')
    })
    const { id } = await job.trigger(false)
    const refused = (message: string) => ({ code: 'run_not_retryable', message: expect.stringMatching(message) })
    // A new run beside one that has not ended would do its work twice.
    await expect(durably.retry(id)).rejects.toMatchObject(
      refused('it is pending and has not ended, so it still does its work; explain\\(\\) says what it waits for$'),
    )
    await soon(durably.processUntilIdle())
    await expect(durably.retry(id)).rejects.toMatchObject(refused('it is completed, .*; trigger a new one instead$'))
    const cancelled = await job.trigger(false)
    await durably.cancel(cancelled.id)
    await expect(durably.retry(cancelled.id)).rejects.toMatchObject(refused('it is cancelled, .*; trigger a new one instead$'))
    await expect(durably.retry('01ARZ3NDEKTSV4RRFFQ69G5FAV')).rejects.toMatchObject({ code: 'run_not_found' })
  })

  test('of two callers one retries, the other is refused', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      throw new Error('bad')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const outcomes = await Promise.allSettled([durably.retry(id), durably.retry(id)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('a retried run starts clean: no error, no end, its first start and its progress kept', async () => {
    const { durably, env, soon } = await setup(world)
    let broken = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      if (!broken) return
      ctx.progress(7, 10, 'on the way')
      throw new Error('bad')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const failed = await durably.getRun(id)
    await env.advance(1000)
    const retried = await durably.retry(id)

    expect(retried).toMatchObject({ status: 'pending', error: null, failure: null, reason: null, finishedAt: null })
    expect(retried).toMatchObject({ startedAt: failed?.startedAt, createdAt: failed?.createdAt, progress: { current: 7, total: 10 } })
    broken = false
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', error: null, startedAt: failed?.startedAt })
  })

  test('a retried run wakes an idle worker at once', async () => {
    const { durably, soon } = await setup(world)
    let broken = true
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      if (broken) throw new Error('bad')
    })
    durably.start()
    const failed = new Promise((resolve) => void durably.on('run:fail', resolve))
    const completed = new Promise((resolve) => void durably.on('run:complete', resolve))
    const { id } = await job.trigger(null)
    await soon(failed)
    broken = false
    await durably.retry(id)
    await soon(completed)
  })
})
