import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { retry } from '../../src/model/retry-policy.ts'
import type { Store } from '../../src/store/store.ts'
import { setup, WORLDS } from '../engine/world.ts'
import { carryContexts, telemetry, tree } from './telemetry.ts'

const anything = z.unknown()

beforeAll(carryContexts)
afterAll(() => context.disable())

describe.each(WORLDS)('traces on %s', (world) => {
  test('a run continues the trace of its trigger, with a span for each execution and each step', async () => {
    const { durably, another } = await setup(world)
    const { plugin, tracer, spans, span } = telemetry()
    durably.use(plugin())
    const worker = another({ workerId: 'w1' }).use(plugin())
    const definition = { name: 'import', input: anything }
    const job = durably.defineJob(definition, () => null)
    worker.defineJob(definition, async (ctx) => {
      await ctx.run('fetch', () => tracer.startActiveSpan('GET /', (span) => span.end()))
      await ctx.run('store', () => 'done')
      return null
    })
    const { id } = await tracer.startActiveSpan('POST /imports', async (request) => {
      const run = await job.trigger(null, { labels: { tenant: 'acme' } })
      request.end()
      return run
    })
    await worker.processUntilIdle()
    expect(tree(spans())).toEqual([
      'POST /imports',
      '  trigger import (PRODUCER)',
      '    run import (CONSUMER) completed',
      '      step fetch',
      '        GET /',
      '      step store',
    ])
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(span('run import').attributes).toMatchObject({
      'durably.run.id': id,
      'durably.job.name': 'import',
      'durably.run.attempt': 1,
      'durably.run.execution': 1,
      'durably.run.recoveries': 0,
      'durably.worker.id': 'w1',
    })
    expect((await durably.getRun(id))?.labels).toMatchObject({ tenant: 'acme', traceparent: expect.stringMatching(/^00-.*-01$/) })
  })

  test('attempts and waits are executions of the same trace, with their errors', async () => {
    const { durably, within } = await setup(world)
    const { plugin, spans } = telemetry()
    durably.use(plugin())
    let calls = 0
    const job = durably.defineJob({ name: 'flaky', input: anything, retry: retry.fixed({ maxAttempts: 2, delay: 100 }) }, async (ctx) => {
      await ctx.run('once', () => null)
      await ctx.sleep('a while', 1000)
      await ctx.run('call', () => {
        if (++calls === 1) throw new RangeError('too far')
      })
      return null
    })
    await job.trigger(null)
    durably.start()
    await within(5000, waitFor(durably, 'completed'))
    expect(tree(spans())).toEqual([
      'trigger flaky (PRODUCER)',
      '  run flaky (CONSUMER) waiting',
      '    step once',
      '  run flaky (CONSUMER) retry',
      '    step call',
      '  run flaky (CONSUMER) completed',
      '    step call',
    ])
    const failed = spans().filter(({ status }) => status.code === SpanStatusCode.ERROR)
    expect(failed.map(({ name, status, events }) => [name, status.message, events[0]?.name])).toEqual([
      ['step call', 'too far', 'exception'],
      ['run flaky', 'too far', 'exception'],
    ])
    expect(failed[0]?.events[0]?.attributes).toMatchObject({ 'exception.type': 'RangeError', 'exception.message': 'too far' })
  })

  test('a run that fails for good says so', async () => {
    const { durably } = await setup(world)
    const { plugin, span } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'bad', input: anything }, () => {
      throw new Error('no')
    })
    await job.trigger(null)
    await durably.processUntilIdle()
    expect(span('run bad')).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'no' },
      attributes: { 'durably.run.outcome': 'failed' },
    })
  })

  test('children are in the trace of their parent, which is linked to a child that it asks for again', async () => {
    const { durably, within } = await setup(world)
    const { plugin, spans, span } = telemetry()
    durably.use(plugin())
    const child = durably.defineJob({ name: 'child', input: anything }, () => 'done')
    const parent = durably.defineJob({ name: 'parent', input: anything }, async (ctx) => {
      await ctx.trigger(child, null, { name: 'start' })
      return ctx.invoke(child, null, { name: 'wait' })
    })
    const { id } = await parent.trigger(null)
    await within(1000, durably.processUntilIdle())
    const lines = tree(spans())
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(lines.slice(0, 5)).toEqual([
      'trigger parent (PRODUCER)',
      '  run parent (CONSUMER) waiting',
      '    step start',
      '      trigger child (PRODUCER)',
      '        run child (CONSUMER) completed',
    ])
    const triggers = spans().filter(({ name }) => name === 'trigger child')
    const [, waitedFor, ...again] = triggers
    expect(triggers.map(({ links }) => links.length)).toEqual([0, 0, ...again.map(() => 1)])
    expect(again.length).toBeGreaterThan(0)
    for (const { links } of again) expect(links[0]?.context.spanId).toBe(waitedFor?.spanContext().spanId)
    expect(spans().filter(({ name }) => name === 'run child')).toHaveLength(2)
    for (const { name, attributes } of spans()) if (name === 'run child') expect(attributes['durably.run.parent_id']).toBe(id)
    expect(span('trigger parent').parentSpanContext).toBeUndefined()
  })

  test('a second trigger with the same key is linked to the run that it got', async () => {
    const { durably } = await setup(world)
    const { plugin, spans } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    await job.trigger(null, { idempotencyKey: 'k' })
    await job.trigger(null, { idempotencyKey: 'k' })
    const [first, second] = spans()
    expect(first?.links).toEqual([])
    expect(second?.links[0]?.context).toMatchObject(pick(first?.spanContext()))
    expect(second?.spanContext().traceId).not.toBe(first?.spanContext().traceId)
  })

  test('a batch has one trigger, and one trace', async () => {
    const { durably } = await setup(world)
    const { plugin, spans, span } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    await job.batchTrigger([{ payload: 1 }, { payload: 2 }])
    await durably.processUntilIdle()
    expect(tree(spans())).toEqual(['trigger job (PRODUCER)', '  run job (CONSUMER) completed', '  run job (CONSUMER) completed'])
    expect(span('trigger job').attributes).toMatchObject({ 'durably.batch.size': 2 })
  })

  test('a run that was triggered without the plugin has one trace for all its executions, made from its id', async () => {
    const { durably, another, within } = await setup(world)
    const { plugin, spans } = telemetry()
    const worker = another().use(plugin())
    const definition = { name: 'job', input: anything }
    const job = durably.defineJob(definition, () => null)
    worker.defineJob(definition, async (ctx) => {
      await ctx.sleep('a while', 1000)
      return null
    })
    await job.trigger(null)
    worker.start()
    await within(5000, waitFor(durably, 'completed'))
    expect(tree(spans())).toEqual(['run job (CONSUMER) waiting', 'run job (CONSUMER) completed'])
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
  })

  test('a run whose labels leave no room for the context is stored all the same', async () => {
    const { durably } = await setup(world)
    const { plugin, spans } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    const labels = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`l${i}`, 'v']))
    const { id } = await job.trigger(null, { labels })
    expect((await durably.getRun(id))?.labels).toEqual(labels)
    await durably.processUntilIdle()
    expect(tree(spans())).toEqual(['trigger job (PRODUCER)', 'run job (CONSUMER) completed'])
  })

  test('a trigger that the store does not take is an error of its span, and of the caller', async () => {
    const wrap = (store: Store): Store => ({ ...store, runs: { ...store.runs, create: () => Promise.reject(new Error('no')) } })
    const { durably } = await setup(world, { wrap })
    const { plugin, span } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'job', input: anything }, () => null)
    await expect(job.trigger(null)).rejects.toThrow('no')
    expect(span('trigger job')).toMatchObject({ status: { code: SpanStatusCode.ERROR } })
  })

  test('a step that is interrupted has not failed', async () => {
    const { durably, within } = await setup(world)
    const { plugin, span } = telemetry()
    durably.use(plugin())
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    )
    const { id } = await job.trigger(null)
    const started = new Promise((resolve) => durably.on('step:start', resolve))
    durably.start()
    await within(5000, started)
    await durably.cancel(id)
    await within(5000, durably.stop())
    expect(span('step long')).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'durably.step.interrupted': 'cancel_requested' },
    })
    expect(span('run job')).toMatchObject({ status: { code: SpanStatusCode.UNSET }, attributes: { 'durably.run.outcome': 'cancelled' } })
  })

  test('without a provider nothing is carried and nothing is stored', async () => {
    const { durably } = await setup(world)
    const { withOpenTelemetry } = await import('../../src/otel/index.ts')
    durably.use(withOpenTelemetry())
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 1))
    const { id } = await job.trigger(null)
    await durably.processUntilIdle()
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', labels: {} })
  })
})

test('where no contexts are carried across promises, steps and children still find their run', async () => {
  context.disable()
  try {
    const { durably, within } = await setup('memory')
    const { plugin, spans } = telemetry()
    durably.use(plugin())
    const child = durably.defineJob({ name: 'child', input: anything }, () => null)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('step', () => null)
      await ctx.trigger(child, null, { name: 'start' })
      return null
    })
    await job.trigger(null)
    await within(1000, durably.processUntilIdle())
    expect(trace.getActiveSpan()).toBeUndefined()
    expect(tree(spans()).sort()).toEqual([
      '      run child (CONSUMER) completed',
      '    step start',
      '    step step',
      '    trigger child (PRODUCER)',
      '  run job (CONSUMER) completed',
      'trigger job (PRODUCER)',
    ])
  } finally {
    carryContexts()
  }
})

function pick(context: { traceId: string; spanId: string } | undefined) {
  return { traceId: context?.traceId, spanId: context?.spanId }
}

async function waitFor(durably: { watchRuns: import('../../src/durably.ts').Durably['watchRuns'] }, status: 'completed'): Promise<void> {
  for await (const [run] of durably.watchRuns()) if (run?.status === status) return
}
