import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

function defineEndings(durably: Durably) {
  return durably.defineJob({ name: 'job', input: z.enum(['completes', 'fails', 'waits']), output: z.string() }, async (ctx, ending) => {
    if (ending === 'fails') throw new TypeError('as told')
    if (ending === 'waits')
      await ctx.run('wait', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
    return 'output'
  })
}

describe.each(WORLDS)('triggerAndWait on %s', (world) => {
  test('resolves with id and output as soon as the run completes (000 §ジョブとステップ)', async () => {
    const { durably, soon } = await setup(world)
    const job = defineEndings(durably)
    durably.start()
    const { id, output } = await soon(job.triggerAndWait('completes'))
    expect(output).toBe('output')
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('answers although the one read after the end of the run failed', async () => {
    const client = faulty()
    const { durably, env, another, within } = await setup(world, { wrap: client.wrap })
    const job = defineEndings(durably)
    const waiting = job.triggerAndWait('completes')
    await env.advance(5000)
    client.faults.fail('runs.get', { when: 'before' })
    // In another process, so that only a read tells of the end.
    const worker = another()
    defineEndings(worker)
    worker.start()
    expect(await within(60_000, waiting)).toMatchObject({ output: 'output' })
  })

  test('rejects with run_failed, the run’s error and its failure as cause', async () => {
    const { durably, soon } = await setup(world)
    const job = defineEndings(durably)
    durably.start()
    const error = await soon(job.triggerAndWait('fails').catch((error: unknown) => error))
    const [{ id } = { id: '' }] = await job.getRuns()
    expect(error).toMatchObject({
      code: 'run_failed',
      runId: id,
      message: expect.stringContaining('as told'),
      cause: { name: 'TypeError' },
    })
  })

  test('rejects with run_cancelled when the run is cancelled while pending or running', async () => {
    const { durably, env, soon } = await setup(world)
    const job = defineEndings(durably)
    const pending = job.triggerAndWait('waits').catch((error: unknown) => error)
    await env.idle()
    const [first] = await job.getRuns()
    await durably.cancel(first?.id ?? '')
    expect(await soon(pending)).toMatchObject({ code: 'run_cancelled', runId: first?.id })

    durably.start()
    const running = job.triggerAndWait('waits').catch((error: unknown) => error)
    await env.advance(10)
    const [second] = await job.getRuns()
    await durably.cancel(second?.id ?? '')
    expect(await soon(running)).toMatchObject({ code: 'run_cancelled', runId: second?.id })
  })

  test('rejects with run_deleted when the run is deleted before its end was seen', async () => {
    const { durably, another, env } = await setup(world)
    const job = defineEndings(durably)
    const waiting = job.triggerAndWait('completes').catch((error: unknown) => error)
    await env.idle()
    const [run] = await job.getRuns()
    const elsewhere = another()
    await elsewhere.cancel(run?.id ?? '')
    await elsewhere.deleteRun(run?.id ?? '')
    await env.advance(1000)
    expect(await waiting).toMatchObject({ code: 'run_deleted', runId: run?.id })
  })

  test('rejects with wait_timeout when the time is over; the run goes on', async () => {
    const { durably, env, within } = await setup(world)
    const job = defineEndings(durably)
    const error = await within(
      2500,
      job.triggerAndWait('completes', { timeout: 2500 }).catch((error: unknown) => error),
    )
    expect(error).toMatchObject({ code: 'wait_timeout', message: expect.stringContaining('2500 ms') })
    durably.start()
    await env.advance(10)
    expect(await job.getRuns()).toMatchObject([{ status: 'completed' }])
  })

  test('refuses a timeout that is none, and stores nothing', async () => {
    const { durably } = await setup(world)
    const job = defineEndings(durably)
    for (const timeout of [0, -1, Number.NaN]) {
      await expect(job.triggerAndWait('completes', { timeout })).rejects.toMatchObject({ code: 'invalid_argument' })
    }
    expect(await durably.getRuns()).toEqual([])
  })

  test('on an already finished idempotent run resolves without a worker', async () => {
    const { durably, soon } = await setup(world)
    const job = defineEndings(durably)
    const { id } = await job.trigger('completes', { idempotencyKey: 'key' })
    await soon(durably.processUntilIdle())
    expect(await soon(job.triggerAndWait('completes', { idempotencyKey: 'key' }))).toEqual({ id, output: 'output' })
  })

  test.each(['completes', 'fails', 'waits'] as const)('sees how a run ends in another process (%s)', async (ending) => {
    const { durably, another, env } = await setup(world)
    const job = defineEndings(durably)
    const elsewhere = another()
    defineEndings(elsewhere)
    elsewhere.start()
    const waiting = job.triggerAndWait(ending).then(
      ({ output }) => output,
      (error: { code: string }) => error.code,
    )
    await env.advance(1500)
    if (ending === 'waits') await elsewhere.cancel((await job.getRuns())[0]?.id ?? '')
    await env.advance(1500)
    expect(await waiting).toBe({ completes: 'output', fails: 'run_failed', waits: 'run_cancelled' }[ending])
  })

  test('survives a transient error of the store, and rejects with a permanent one', async () => {
    const failing = faulty()
    const { durably, env, within } = await setup(world, { wrap: failing.wrap })
    const job = defineEndings(durably)
    failing.faults.fail('runs.get', { when: 'before', times: 3 })
    const waiting = job.triggerAndWait('completes')
    await env.advance(500)
    durably.start()
    expect(await within(5000, waiting)).toMatchObject({ output: 'output' })
  })

  test('reads the run when it begins and when it ends, not after each of its steps', async () => {
    const counting = faulty()
    const { durably, soon } = await setup(world, { wrap: counting.wrap })
    const job = durably.defineJob({ name: 'steps', input: z.number() }, async (ctx, count) => {
      for (let i = 0; i < count; i++) await ctx.run(`step ${i}`, () => i)
    })
    durably.start()
    await soon(job.triggerAndWait(50))
    // When it begins to wait, after the claim, and at the end; one more while the code of the worker is loaded.
    expect(counting.faults.calls.filter((call) => call === 'runs.get').length).toBeLessThanOrEqual(4)
  })

  test('many waiters leave nothing behind', async () => {
    const { durably, env } = await setup(world)
    const job = defineEndings(durably)
    durably.start()
    const all = Promise.all(Array.from({ length: 50 }, () => job.triggerAndWait('completes')))
    await env.advance(100)
    expect(new Set((await all).map(({ id }) => id)).size).toBe(50)
  })
})
