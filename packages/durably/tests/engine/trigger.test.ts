import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listenTo, typesOf } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const org = z.object({ orgId: z.string(), force: z.boolean().default(false) })

describe.each(WORLDS)('trigger on %s', (world) => {
  test('stores a pending run and returns it without waiting for its end (000 §Run とトリガー)', async () => {
    const { durably, store } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const run = await job.trigger({ orgId: 'a' })

    expect(run).toMatchObject({ jobName: 'sync', status: 'pending', output: null, progress: null, error: null, currentStepIndex: 0 })
    expect(await store.runs.get(run.id)).toMatchObject({ status: 'pending', jobName: 'sync' })
  })

  test('the parsed input is what is stored, and what the job gets', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async (_, payload) => payload)
    const run = await job.trigger({ orgId: 'a' })
    await soon(durably.processUntilIdle())

    expect(run.payload).toEqual({ orgId: 'a', force: false })
    expect(await job.getRun(run.id)).toMatchObject({ output: { orgId: 'a', force: false } })
  })

  test('an invalid input is an exception that names the path, and nothing is stored (000 §ジョブとステップ)', async () => {
    const { durably } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})

    await expect(job.trigger({ orgId: 1 } as never)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('orgId'),
    })
    expect(await durably.getRuns()).toEqual([])
    expect(heard).toEqual([])
  })

  test('an asynchronous schema is awaited', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: z.string().refine(async (value) => value !== 'bad', 'is bad') }, async () => {})
    await expect(job.trigger('bad')).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('is bad') })
    expect(await job.trigger('good')).toMatchObject({ payload: 'good' })
  })

  test('the error of a batch names its first invalid item, also when some answers of its schema come later and some at once', async () => {
    const { durably } = await setup(world)
    const later = z.string().refine(async (value) => value !== 'bad', 'is bad')
    const job = durably.defineJob({ name: 'sync', input: later }, async () => {})
    const batch = ['good', 'bad', 5, 'bad'].map((payload) => ({ payload }))
    await expect(job.batchTrigger(batch as never)).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'input of job "sync" (item 1): is bad',
    })
    expect(await durably.getRuns()).toEqual([])
    expect(await job.batchTrigger([{ payload: 'good' }, { payload: 'better' }])).toMatchObject([{ payload: 'good' }, { payload: 'better' }])
  })

  test('a date in the input is a date in the job (peer P8)', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'dated', input: z.object({ at: z.date() }) }, async (_, { at }) => at.getTime())
    const { id } = await job.trigger({ at: new Date(5) })
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 5 })
  })

  test('a transforming schema is applied once, at trigger, and not again by the worker', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'length', input: z.string().transform((text) => text.length) }, async (_, length) => length)
    const { id } = await job.trigger('four')
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ payload: 4, output: 4 })
  })
})

describe.each(WORLDS)('idempotencyKey on %s', (world) => {
  test('ten concurrent callers get one run, each its id (000 §重複排除と直列化)', async () => {
    const { durably, another, within } = await setup(world)
    const heard = listenTo(durably)
    const define = (instance: typeof durably) => instance.defineJob({ name: 'sync', input: org }, async () => {})
    const jobs = [define(durably), define(another())]
    const callers = Array.from({ length: 10 }, (_, i) => jobs[i % 2]?.trigger({ orgId: `${i}` }, { idempotencyKey: 'webhook-456' }))
    const runs = await within(5000, Promise.all(callers))

    expect(new Set(runs.map((run) => run?.id)).size).toBe(1)
    expect(await durably.getRuns()).toHaveLength(1)
    expect(typesOf(heard).length).toBeLessThanOrEqual(1)
  })

  test('a known key returns the existing run whatever its payload, and emits no second run:trigger', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => 'done')
    const first = await job.trigger({ orgId: 'a' }, { idempotencyKey: 'key' })
    await soon(durably.processUntilIdle())
    const second = await job.trigger({ orgId: 'another' }, { idempotencyKey: 'key' })

    expect(second).toMatchObject({ id: first.id, status: 'completed', output: 'done', payload: { orgId: 'a' } })
    expect(typesOf(heard).filter((type) => type === 'run:trigger')).toHaveLength(1)
  })

  test('the same key of another job is another run', async () => {
    const { durably } = await setup(world)
    const one = durably.defineJob({ name: 'one', input: org }, async () => {})
    const two = durably.defineJob({ name: 'two', input: org }, async () => {})
    const a = await one.trigger({ orgId: 'a' }, { idempotencyKey: 'key' })
    const b = await two.trigger({ orgId: 'a' }, { idempotencyKey: 'key' })
    expect(a.id).not.toBe(b.id)
  })

  test('deleteRun frees the key (000 §重複排除と直列化)', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const first = await job.trigger({ orgId: 'a' }, { idempotencyKey: 'key' })
    await soon(durably.processUntilIdle())
    await durably.deleteRun(first.id)
    const second = await job.trigger({ orgId: 'b' }, { idempotencyKey: 'key' })

    expect(second).toMatchObject({ status: 'pending', payload: { orgId: 'b' } })
    expect(second.id).not.toBe(first.id)
  })

  test('both keys can be given together (000 §重複排除と直列化)', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const run = await job.trigger({ orgId: 'a' }, { idempotencyKey: 'i', concurrencyKey: 'c' })
    expect(run).toMatchObject({ idempotencyKey: 'i', concurrencyKey: 'c' })
  })
})

describe.each(WORLDS)('batchTrigger on %s', (world) => {
  test('stores all runs in the order given, with their options (000 §バッチ登録)', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const runs = await job.batchTrigger([
      { payload: { orgId: '1' }, options: { idempotencyKey: 'event-1' } },
      { payload: { orgId: '2' }, options: { concurrencyKey: 'org' } },
      { payload: { orgId: '3' } },
    ])

    expect(runs.map(({ payload, idempotencyKey, concurrencyKey }) => ({ payload, idempotencyKey, concurrencyKey }))).toEqual([
      { payload: { orgId: '1', force: false }, idempotencyKey: 'event-1', concurrencyKey: null },
      { payload: { orgId: '2', force: false }, idempotencyKey: null, concurrencyKey: 'org' },
      { payload: { orgId: '3', force: false }, idempotencyKey: null, concurrencyKey: null },
    ])
    expect((await durably.getRuns()).map(({ id }) => id)).toEqual(runs.map(({ id }) => id).reverse())
  })

  test('one invalid item stores nothing and is named', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const batch = [{ payload: { orgId: '1' } }, { payload: {} as never }]
    await expect(job.batchTrigger(batch)).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('item 1') })
    await expect(
      job.batchTrigger([{ payload: { orgId: '1' } }, { payload: { orgId: '2' }, options: { idempotencyKey: '' } }]),
    ).rejects.toMatchObject({
      code: 'invalid_name',
    })
    expect(await durably.getRuns()).toEqual([])
  })

  test('a key twice in one batch is one run, returned twice', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const options = { idempotencyKey: 'same' }
    const [a, b] = await job.batchTrigger([
      { payload: { orgId: '1' }, options },
      { payload: { orgId: '2' }, options },
    ])
    expect(a?.id).toBe(b?.id)
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('a known key among new ones gives the existing run in its place', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'sync', input: org }, async () => {})
    const known = await job.trigger({ orgId: 'known' }, { idempotencyKey: 'known' })
    const runs = await job.batchTrigger([
      { payload: { orgId: 'x' } },
      { payload: { orgId: 'y' }, options: { idempotencyKey: 'known' } },
      { payload: { orgId: 'z' } },
    ])
    expect(runs[1]?.id).toBe(known.id)
    expect(await durably.getRuns()).toHaveLength(3)
  })

  test('an input that has a field `payload` or `input` of its own is not misread (peer P2)', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'nested', input: z.object({ input: z.string(), payload: z.string() }) }, async () => {})
    const [run] = await job.batchTrigger([{ payload: { input: 'x', payload: 'y' } }])
    expect(run?.payload).toEqual({ input: 'x', payload: 'y' })
    const bare = [{ orgId: 'no payload' }] as never
    await expect(job.batchTrigger(bare)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('an empty batch is nothing, a batch of 2,500 is one transaction', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'many', input: z.number() }, async () => {})
    expect(await job.batchTrigger([])).toEqual([])
    const runs = await job.batchTrigger(Array.from({ length: 2500 }, (_, i) => ({ payload: i })))
    expect(runs.map(({ payload }) => payload)).toEqual(Array.from({ length: 2500 }, (_, i) => i))
    expect(await durably.getRuns()).toHaveLength(2500)
  })
})
