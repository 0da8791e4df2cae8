import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DurablyError } from '../../src/model/errors.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('withLogPersistence on %s', (world) => {
  test('persists every event and log line in the order they happened (000 §プラグインシステム, peer P26)', async () => {
    const { durably, env, soon } = await setup(world)
    durably.use(withLogPersistence())
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.log.info('starting', { orgId: 'a' })
      await ctx.run('good', () => ctx.log.warn('inside'))
      await ctx.run('bad', () => {
        ctx.progress(1, 2)
        throw new Error('bad')
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await env.idle()
    await soon(durably.stop())

    const logs = await durably.getLogs(id)
    expect(logs.map(({ level, stepName, message, data }) => [level, stepName, message, data])).toEqual([
      ['info', null, 'run:trigger', undefined],
      ['info', null, 'run:start', undefined],
      ['info', null, 'starting', { orgId: 'a' }],
      ['info', 'good', 'step:start', { stepIndex: 0 }],
      ['warn', 'good', 'inside', undefined],
      ['info', 'good', 'step:complete', { stepIndex: 0, duration: 0 }],
      ['info', 'bad', 'step:start', { stepIndex: 1 }],
      ['info', null, 'run:progress', { current: 1, total: 2 }],
      ['error', 'bad', 'step:fail', { stepIndex: 1, error: 'bad' }],
      ['error', null, 'run:fail', { error: 'bad', failedStepName: 'bad' }],
    ])
    expect(logs).toHaveLength(heard.length)
  })

  test('the logs table stays empty without it (000 §プラグインシステム)', async () => {
    const { durably, soon, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => ctx.log.error('unheard'))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await env.advance(1000)
    expect(await durably.getLogs(id)).toEqual([])
  })

  test('a line of a long step can be read by others within 100 ms', async () => {
    const { durably, another, env } = await setup(world)
    durably.use(withLogPersistence())
    const finish = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('long', async () => {
        ctx.log.info('early')
        await finish.opened
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    expect((await another().getLogs(id)).map(({ message }) => message)).toContain('early')
    finish.open()
    await env.advance(100)
    expect((await durably.getLogs(id)).map(({ message }) => message)).toContain('run:complete')
  })

  test('a chatty step costs one write per 100 ms, and keeps the order of its lines', async () => {
    const watched = faulty()
    const { durably, env } = await setup(world, { wrap: watched.wrap })
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('chatty', async () => {
        for (let i = 0; i < 50; i++) {
          ctx.log.info(`line ${i}`)
          await new Promise<void>((resolve) => void env.timer(10, resolve))
        }
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    const lines = (await durably.getLogs(id)).filter(({ message }) => message.startsWith('line'))
    expect(lines.map(({ message }) => message)).toEqual(Array.from({ length: 50 }, (_, i) => `line ${i}`))
    expect(watched.faults.count('apply.heartbeat')).toBeLessThanOrEqual(6)
  })

  test('log lines stand in the event log by reference', async () => {
    const { durably, store, soon } = await setup(world)
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.log.info('before')
      await ctx.run('step', ({ log }) => log.info('inside'))
      ctx.log.info('after')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await soon(durably.stop())

    const lines = (await durably.getLogs(id)).filter(({ message }) => !message.includes(':'))
    const events = (await store.events.list(id)).filter(({ type }) => type === 'log:write')
    expect(events.map(({ payload }) => (JSON.parse(payload) as { logId: string }).logId)).toEqual(lines.map((line) => line.id))
    expect(lines.map(({ message }) => message)).toEqual(['before', 'inside', 'after'])
    expect(JSON.stringify(events)).not.toContain('inside')
  })

  test('a line of a sibling step, written after the job had already failed, is kept and referenced too', async () => {
    const { durably, store, soon } = await setup(world)
    durably.use(withLogPersistence())
    const failed = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      Promise.all([
        ctx.run('bad', () => {
          throw new Error('bad')
        }),
        ctx.run('slow', async () => {
          await failed.opened
          await new Promise((resolve) => setImmediate(resolve))
          ctx.log.info('last words')
        }),
      ]),
    )
    durably.on('step:fail', () => failed.open())
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await soon(durably.stop())
    const line = (await durably.getLogs(id)).find(({ message }) => message === 'last words')
    expect(line).toMatchObject({ stepName: 'slow' })
    expect(JSON.stringify(await store.events.list(id))).toContain(line?.id)
  })

  test('data that cannot be stored does not lose the line', async () => {
    const { durably, soon } = await setup(world)
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      ctx.log.info('with a function', { f: () => {} })
      ctx.log.info('with \0 and \ud800')
      ctx.log.info(42 as never)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await soon(durably.stop())
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
    const lines = (await durably.getLogs(id)).filter(({ message }) => !message.includes(':'))
    expect(lines.map(({ message }) => message)).toEqual(['with a function', expect.stringContaining('with '), '42'])
    expect(lines[0]?.data).toMatchObject({ notStored: expect.stringContaining('function') })
  })

  test('failing log writes never reject unhandled and never touch the run (peer P9)', async () => {
    const failing = faulty()
    const { durably, env, within } = await setup(world, { wrap: failing.wrap })
    durably.use(withLogPersistence())
    const heard = listenTo(durably)
    failing.faults.fail('logs.append', { when: 'before', times: Number.POSITIVE_INFINITY, error: new DurablyError('store_rejected', 'no') })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    const { id } = await job.trigger(null)
    await within(10_000, durably.processUntilIdle())
    await env.advance(10_000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed' })
    expect(ofType(heard, 'worker:error').length).toBeGreaterThan(0)
    await within(10_000, durably.stop())
  })

  test('a passing error of the log write is tried again: nothing is lost, nothing twice', async () => {
    const failing = faulty()
    const { durably, env, within } = await setup(world, { wrap: failing.wrap })
    durably.use(withLogPersistence())
    failing.faults.fail('logs.append', { when: 'before' })
    failing.faults.fail('logs.append', { when: 'after' })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    const { id } = await job.trigger(null)
    await within(10_000, durably.processUntilIdle())
    await env.advance(5000)
    expect((await durably.getLogs(id)).map(({ message }) => message).toSorted()).toEqual(['run:complete', 'run:start', 'run:trigger'])
  })

  test.each([
    { options: {}, answersWithinMs: 10_100 },
    { options: { timeout: 2000 }, answersWithinMs: 2100 },
    { options: { timeout: 0 }, answersWithinMs: 600 },
  ])('stop($options) does not wait for ever for a store that takes no lines', async ({ options, answersWithinMs }) => {
    const failing = faulty()
    const { durably, within } = await setup(world, { wrap: failing.wrap })
    durably.use(withLogPersistence())
    const heard = listenTo(durably)
    failing.faults.fail('logs.append', { when: 'silent' })
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    await job.trigger(null)
    await within(answersWithinMs, durably.stop(options))
    expect(ofType(heard, 'worker:error')).toMatchObject([
      { error: expect.stringContaining('log lines'), cause: { code: 'store_unavailable' } },
    ])
  })

  test('lines of a deleted run are dropped without noise', async () => {
    const { durably, env } = await setup(world)
    durably.use(withLogPersistence())
    const heard = listenTo(durably)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => 1)
    const { id } = await job.trigger(null)
    await durably.cancel(id)
    await durably.deleteRun(id)
    await env.advance(1000)
    expect(await durably.getLogs(id)).toEqual([])
    expect(ofType(heard, 'worker:error')).toEqual([])
  })
})
