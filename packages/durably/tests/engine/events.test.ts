import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { DurablyEvent, EventType } from '../../src/model/event.ts'
import { retry } from '../../src/model/retry-policy.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('events on %s', (world) => {
  test('fire in the order of the table, with the fields it names (000 §イベント発火タイミング)', async () => {
    const { durably, env, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
      ctx.log.info('hello', { n })
      await ctx.run('good', async () => {
        await env.advance(30)
        return n + 1
      })
      await ctx.run('bad', () => {
        throw new Error('bad')
      })
    })
    const { id } = await job.trigger({ n: 1 })
    await soon(durably.processUntilIdle())

    const facts = { runId: id, jobName: 'job' }
    expect(heard).toMatchObject([
      { type: 'run:trigger', ...facts, payload: { n: 1 } },
      { type: 'run:start', ...facts, payload: { n: 1 } },
      { type: 'log:write', runId: id, stepName: null, level: 'info', message: 'hello', data: { n: 1 } },
      { type: 'step:start', ...facts, stepName: 'good', stepIndex: 0 },
      { type: 'step:complete', ...facts, stepName: 'good', stepIndex: 0, output: 2, duration: 30 },
      { type: 'step:start', ...facts, stepName: 'bad', stepIndex: 1 },
      { type: 'step:fail', ...facts, stepName: 'bad', stepIndex: 1, error: 'bad' },
      { type: 'run:fail', ...facts, error: 'bad', failedStepName: 'bad' },
    ])
  })

  test('a failure is reported as a whole, of the step and of its run, to listeners and by the event log, also after a manual retry', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    let call = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('charge', () => {
        const cause = new Error('connect ECONNREFUSED')
        throw Object.assign(new TypeError(`declined ${++call}`, { cause }), { code: 'E_CARD' })
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    const recorded: DurablyEvent[] = []
    for await (const event of durably.subscribe(id)) recorded.push(event)
    const failures = (events: DurablyEvent[]) =>
      [...ofType(events, 'step:fail'), ...ofType(events, 'run:fail')].map(({ failure }) => failure)
    expect(failures(heard)).toMatchObject(
      [1, 2, 1, 2].map((nth) => ({
        name: 'TypeError',
        message: `declined ${nth}`,
        code: 'E_CARD',
        stack: expect.stringContaining('events.test.ts'),
        cause: { name: 'Error', message: 'connect ECONNREFUSED' },
      })),
    )
    expect(failures(recorded)).toEqual(failures(heard))
  })

  test('a step that fails says whether it will be tried again', async () => {
    const { durably, env } = await setup(world)
    const heard = listenTo(durably)
    const policy = retry.fixed({ maxAttempts: 2, delay: 1000 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('bad', { retry: policy }, () => {
        throw new Error('bad')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    const recorded: DurablyEvent[] = []
    for await (const event of durably.subscribe(id)) recorded.push(event)
    for (const events of [heard, recorded]) expect(ofType(events, 'step:fail').map(({ willRetry }) => willRetry)).toEqual([true, false])
  })

  test('every event carries a time and a sequence that grows by one (000 §イベント型定義)', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 1))
    await job.trigger(null)
    await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect(heard.map(({ sequence }) => sequence)).toEqual(Array.from({ length: heard.length }, (_, i) => i + 1))
    for (const { timestamp } of heard) expect(timestamp).toBe('2025-01-01T00:00:00.000Z')
  })

  test('an event is emitted after its change is in the database (000 §イベント発火タイミング)', async () => {
    const { durably, store, soon } = await setup(world)
    const seen: Record<string, unknown> = {}
    const look = (event: DurablyEvent) => {
      const { type, runId } = event
      const [run, steps] = [store.runs.get(runId ?? ''), store.steps.list(runId ?? '')]
      pending.push(
        Promise.all([run, steps]).then(([row, rows]) => {
          seen[type] = `${row?.status}, ${rows.filter((step) => step.status === 'completed').length} completed`
        }),
      )
    }
    const pending: Promise<void>[] = []
    for (const type of ['run:start', 'step:complete', 'run:complete'] as const) durably.on(type, look)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await Promise.all(pending)
      await ctx.run('step', () => 1)
      await Promise.all(pending)
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    await Promise.all(pending)

    expect(seen).toEqual({
      'run:start': 'running, 0 completed',
      'step:complete': 'running, 1 completed',
      'run:complete': 'completed, 1 completed',
    })
  })

  test('run:complete carries the output and the time since the first start', async () => {
    const { durably, env, soon } = await setup(world)
    const heard = listenTo(durably)
    let broken = true
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      if (broken) throw new Error('bad')
      return { done: true }
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    broken = false
    await env.advance(500)
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    expect(ofType(heard, 'run:complete')).toMatchObject([{ runId: id, output: { done: true }, duration: 500 }])
    expect(typesOf(heard)).toEqual(['run:trigger', 'run:start', 'run:fail', 'run:retry', 'run:start', 'run:complete'])
  })

  test('listeners are called synchronously, in the order they came (000 §イベントシステム)', async () => {
    const { durably } = await setup(world)
    const order: string[] = []
    durably.on('run:trigger', () => void order.push('first'))
    durably.on('run:trigger', () => void order.push('second'))
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null).then(() => order.push('answered'))
    expect(order).toEqual(['first', 'second', 'answered'])
  })

  test('on() returns its unsubscribe; a listener may leave while it is called', async () => {
    const { durably } = await setup(world)
    let calls = 0
    const off = durably.on('run:trigger', () => {
      calls++
      off()
    })
    durably.on('run:trigger', () => {
      calls += 10
    })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.trigger(null)
    await job.trigger(null)
    expect(calls).toBe(21)
  })
})

describe.each(WORLDS)('listeners that misbehave on %s', (world) => {
  test('throwing, rejecting or never answering changes nothing, and onError hears of the first two (000 §イベントシステム)', async () => {
    const { durably, soon, env } = await setup(world)
    const types: EventType[] = ['run:trigger', 'run:start', 'step:start', 'log:write', 'step:complete', 'run:progress', 'run:complete']
    const told: string[] = []
    durably.onError((error, event) => void told.push(`${event.type}: ${(error as Error).message}`))
    for (const type of types) {
      durably.on(type, () => {
        throw new Error('thrown')
      })
      durably.on(type, async () => {
        throw new Error('rejected')
      })
      durably.on(type, () => new Promise(() => {}))
    }
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.progress(1)
      ctx.log.info('line')
      return ctx.run('step', () => 'fine')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await env.idle()

    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 'fine' })
    expect(typesOf(heard).toSorted()).toEqual(types.toSorted())
    expect(told.toSorted()).toEqual(types.flatMap((type) => [`${type}: rejected`, `${type}: thrown`]).toSorted())
  })

  test('without onError, and with one that throws itself, nothing happens either', async () => {
    const { durably, soon } = await setup(world)
    durably.on('run:start', () => {
      throw new Error('thrown')
    })
    durably.on('run:start', () => Promise.reject(new Error('rejected')))
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    const first = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const off = durably.onError(() => {
      throw new Error('the handler too')
    })
    const second = await job.trigger(null)
    await soon(durably.processUntilIdle())
    off()
    for (const { id } of [first, second]) expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('a listener that triggers, cancels or stops from within does no harm', async () => {
    const { durably, soon, within } = await setup(world)
    const started = gate()
    const job = durably.defineJob({ name: 'job', input: z.string() }, async (ctx, label) => {
      await ctx.run('step', () => {
        if (label === 'child') started.open()
      })
    })
    durably.on('run:complete', async ({ runId }) => {
      if ((await job.getRun(runId))?.payload === 'parent') await job.trigger('child', { idempotencyKey: 'child' })
      else await durably.stop()
    })
    durably.start()
    await job.trigger('parent')
    await within(100, started.opened)
    await soon(durably.stop())
    expect((await job.getRuns()).map(({ payload, status }) => `${payload} ${status}`)).toEqual(['child completed', 'parent completed'])
  })
})
