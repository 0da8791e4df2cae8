// The durable event log: a move, a step and their events commit together (DESIGN §4).
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { typesOf } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('the event log on %s', (world) => {
  test('holds every event of a run in the order of their commits, values by reference', async () => {
    const { durably, store, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.progress(1, 2)
      await ctx.run('good', () => 'a value that is stored once')
      await ctx.run('bad', () => {
        throw new Error('bad')
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    const log = await store.events.list(id)
    const steps = await durably.getSteps(id)
    expect(log.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 run:trigger',
      '2 run:start',
      '3 step:start',
      '4 run:progress',
      '5 step:complete',
      '6 step:start',
      '7 step:fail',
      '8 run:fail',
    ])
    expect(log.slice(2).map(({ payload }) => JSON.parse(payload) as unknown)).toEqual([
      { generation: 1, stepName: 'good', stepIndex: 0 },
      { generation: 1, progress: { current: 1, total: 2 } },
      { generation: 1, stepId: steps[0]?.id },
      { generation: 1, stepName: 'bad', stepIndex: 1 },
      { generation: 1, stepId: steps[1]?.id },
      { generation: 1, error: 'bad', failure: expect.objectContaining({ name: 'Error', message: 'bad' }), failedStepName: 'bad' },
    ])
    expect(JSON.stringify(log)).not.toContain('stored once')
  })

  test('emits retry, cancel, release and reclaim', async () => {
    const mortal = faulty()
    const { durably, another, store, env, soon, within } = await setup(world, { wrap: mortal.wrap })
    const started = [gate(), gate(), gate()]
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('wait', () => {
        started.shift()?.open()
        return new Promise<void>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      }),
    )
    const { id } = await job.trigger(null)
    const [first, second] = started
    durably.start()
    await soon(first?.opened ?? Promise.resolve())
    await within(1000, durably.stop({ timeout: 1 }))
    durably.start()
    await soon(second?.opened ?? Promise.resolve())
    mortal.faults.die()
    const heir = another()
    heir.defineJob({ name: 'job', input: anything }, async () => {
      throw new Error('bad')
    })
    heir.start()
    await env.advance(32_000)
    await heir.stop()
    await heir.retry(id)
    await heir.cancel(id)

    expect(typesOf(await store.events.list(id))).toEqual([
      'run:trigger',
      'run:start',
      'step:start',
      'run:release',
      'run:start',
      'run:reclaim',
      'run:start',
      'run:fail',
      'run:retry',
      'run:cancel',
    ])
  })

  test('a step:start is never written alone: it is part of the next write of its run', async () => {
    const watched = faulty()
    const { durably, store, soon } = await setup(world, { wrap: watched.wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('a', async () => {
        expect(typesOf(await store.events.list(ctx.runId))).not.toContain('step:start')
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(typesOf(await store.events.list(id))).toEqual(['run:trigger', 'run:start', 'step:start', 'step:complete', 'run:complete'])
    expect(watched.faults.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply.recordStep', 'apply.complete'])
  })

  test('log lines do not stand in it without withLogPersistence', async () => {
    const { durably, store, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => ctx.log.info('a line'))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(typesOf(await store.events.list(id))).toEqual(['run:trigger', 'run:start', 'run:complete'])
    expect(await durably.getLogs(id)).toEqual([])
  })
})
