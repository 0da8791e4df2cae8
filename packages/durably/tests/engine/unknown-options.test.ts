// What Durably does not know is refused, with the name of what was meant; it is never ignored.
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { cluster } from '../../src/cluster.ts'
import { createDurably, type JobContext, retry } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { postgres } from '../../src/postgres/index.ts'
import { allowAll, durablyHandler } from '../../src/server/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { createTaskQueue } from '../../src/tasks/index.ts'
import { drain, virtualEnv } from '../../src/testing/index.ts'
import { setup } from './world.ts'

const anything = z.unknown()
/** As a program without types would pass it. */
const wrong = (options: Record<string, unknown>) => options as never

const refusal = (code: string, message: string) => expect.objectContaining({ code, message: expect.stringContaining(message) })

describe('an unknown option is refused with the nearest known one', () => {
  test.each<[string, () => unknown, string]>([
    [
      'createDurably',
      () => createDurably(wrong({ store: memoryStore(), pollInterval: 5 })),
      '"pollInterval"; did you mean "pollingInterval"?',
    ],
    ['memoryStore', () => memoryStore(wrong({ eventlog: false })), '"eventlog"; did you mean "eventLog"?'],
    ['sqlite', () => sqlite('x.db', wrong({ durabilty: 'full' })), '"durabilty"; did you mean "durability"?'],
    ['postgres', () => postgres('postgres://localhost/x', wrong({ queryTimeoutMs: 5 })), '"queryTimeoutMs"; did you mean "queryTimeout"?'],
    ['createTaskQueue', () => createTaskQueue(wrong({ maxAttempt: 5 })), '"maxAttempt"; did you mean "maxAttempts"?'],
    ['retention', () => createTaskQueue({ retention: wrong({ maximum: 5 }) }), '"maximum"; there is max, ttl'],
    [
      'durablyHandler',
      () => durablyHandler(createDurably({ store: memoryStore() }), wrong({ authorize: allowAll(), allowedOrigin: [] })),
      '"allowedOrigin"; did you mean "allowedOrigins"?',
    ],
  ])('%s', (what, make, message) => {
    expect(make).toThrow(refusal('invalid_config', `${what} has no option ${message}`))
  })

  test.each<[string, () => unknown, string]>([
    ['retry.fixed', () => retry.fixed(wrong({ maxAttempts: 3, delayMs: 5 })), '"delayMs"; did you mean "delay"?'],
    ['retry.exponential', () => retry.exponential(wrong({ attempts: 5 })), '"attempts"; did you mean "maxAttempts"?'],
  ])('%s', (what, make, message) => {
    expect(make).toThrow(refusal('invalid_argument', `${what} has no option ${message}`))
  })

  test('defineJob, which defines nothing then', async () => {
    const { durably } = await setup('memory')
    expect(() => durably.defineJob(wrong({ name: 'job', input: anything, retries: 3 }), async () => {})).toThrow(
      refusal('invalid_argument', 'job "job" has no option "retries"; did you mean "retry"?'),
    )
    expect(durably.jobs.size).toBe(0)
  })

  test('trigger, triggerAndWait and batchTrigger, which store nothing then', async () => {
    const { durably } = await setup('memory')
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const idempotency = refusal('invalid_argument', 'trigger has no option "idempotency"; did you mean "idempotencyKey"?')
    const options = wrong({ idempotency: 'k' })
    await expect(job.trigger(null, options)).rejects.toThrow(idempotency)
    await expect(job.triggerAndWait(null, options)).rejects.toThrow(idempotency)
    await expect(job.batchTrigger([{ payload: 1 }, { payload: 2, options }])).rejects.toThrow(idempotency)
    await expect(job.trigger(null, null as never)).rejects.toThrow(
      refusal('invalid_argument', 'the options of trigger must be an object, got null'),
    )
    expect(await durably.getRuns()).toEqual([])
  })

  test('getRuns and watchRuns, of an instance and of a job', async () => {
    const { durably } = await setup('memory')
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const filter = wrong({ statuses: ['failed'] })
    const status = refusal('invalid_argument', 'getRuns has no option "statuses"; did you mean "status"?')
    await expect(durably.getRuns(filter)).rejects.toThrow(status)
    await expect(job.getRuns(filter)).rejects.toThrow(status)
    expect(() => durably.watchRuns(filter)).toThrow(refusal('invalid_argument', 'watchRuns has no option "statuses"'))
    expect(() => durably.watchRuns(wrong({ cursor: 'x' }))).toThrow(refusal('invalid_argument', 'watchRuns has no option "cursor"'))
    expect(() => durably.watchRuns({}, wrong({ abort: 1 }))).toThrow(refusal('invalid_argument', 'watchRuns has no option "abort"'))
    expect(() => durably.subscribe('id', wrong({ from: 1 }))).toThrow(refusal('invalid_argument', 'subscribe has no option "from"'))
  })

  test('what changes runs, which changes none then', async () => {
    const { durably } = await setup('memory')
    const { id } = await durably.defineJob({ name: 'job', input: anything }, async () => {}).trigger(null)
    const version = wrong({ version: 7 })
    const ifVersion = refusal('invalid_argument', 'has no option "version"; did you mean "ifVersion"?')
    await expect(durably.cancel(id, version)).rejects.toThrow(ifVersion)
    await expect(durably.retry(id, version)).rejects.toThrow(ifVersion)
    await expect(durably.deleteRun(id, version)).rejects.toThrow(ifVersion)
    await expect(durably.purge(wrong({ olderThan: 0, statuses: 'failed' }))).rejects.toThrow(
      refusal('invalid_argument', 'purge has no option "statuses"; did you mean "status"?'),
    )
    await expect(durably.signal(id, 'name', 1, wrong({ key: 'k' }))).rejects.toThrow(
      refusal('invalid_argument', 'signal has no option "key"'),
    )
    await expect(durably.processUntilIdle(wrong({ maxRun: 1 }))).rejects.toThrow(
      refusal('invalid_argument', 'processUntilIdle has no option "maxRun"; did you mean "maxRuns"?'),
    )
    await expect(durably.stop(wrong({ timeoutMs: 1 }))).rejects.toThrow(
      refusal('invalid_argument', 'stop has no option "timeoutMs"; did you mean "timeout"?'),
    )
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', version: 0 })
  })

  test.each<[string, (ctx: never) => unknown]>([
    [
      'ctx.run has no option "retries"; did you mean "retry"?',
      (ctx: { run: (...args: unknown[]) => unknown }) => ctx.run('s', { retries: 3 }, () => {}),
    ],
    [
      'ctx.stream has no option "timeOut"; did you mean "timeout"?',
      (ctx: { stream: (...args: unknown[]) => unknown }) => ctx.stream('s', { timeOut: 3 }, () => {}),
    ],
    [
      'ctx.stream has no option "effect"; there is retry, timeout',
      (ctx: { stream: (...args: unknown[]) => unknown }) => ctx.stream('s', { effect: 'once' }, () => {}),
    ],
    [
      'ctx.stream has no option "reconcile"; there is retry, timeout',
      (ctx: { stream: (...args: unknown[]) => unknown }) => ctx.stream('s', { reconcile: () => 'run again' }, () => {}),
    ],
    [
      'ctx.waitFor has no option "timeoutMs"; did you mean "timeout"?',
      (ctx: { waitFor: (...args: unknown[]) => unknown }) => ctx.waitFor('s', { timeoutMs: 3 }),
    ],
  ])('%s', async (message, call) => {
    const { durably, soon } = await setup('memory')
    const { id } = await durably.defineJob({ name: 'job', input: anything }, (ctx) => call(ctx as never)).trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: message, failure: { code: 'invalid_argument' } })
  })

  test('ctx.transaction', async () => {
    const { durably, soon } = await setup('sqlite')
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.transaction('t', wrong({ timeOut: 5 }), async () => {}))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ error: 'ctx.transaction has no option "timeOut"; did you mean "timeout"?' })
  })
})

describe('a wrong kind is refused', () => {
  test('createDurably without options, or with something else', () => {
    const example = refusal('invalid_config', 'createDurably needs either a dialect or a store, e.g. { dialect: sqlite("app.db") }')
    expect(() => createDurably(undefined as never)).toThrow(example)
    expect(() => createDurably(null as never)).toThrow(example)
    expect(() => createDurably('app.db' as never)).toThrow(
      refusal('invalid_config', 'the options of createDurably must be an object, got app.db'),
    )
  })

  test.each(['invoke', 'trigger'] as const)('ctx.%s takes a job, not its name', async (verb) => {
    const { durably, soon } = await setup('memory')
    const wrongJobs = ['name', undefined, { name: 'name' }]
    const job = durably.defineJob({ name: 'job', input: z.number() }, (ctx, i) =>
      (ctx[verb] as JobContext['invoke']).call(ctx, wrongJobs[i] as never, 1),
    )
    const runs = await job.batchTrigger(wrongJobs.map((_, i) => ({ payload: i })))
    await soon(durably.processUntilIdle())
    for (const [i, { id }] of runs.entries())
      expect(await durably.getRun(id)).toMatchObject({
        status: 'failed',
        error: `ctx.trigger and ctx.invoke take a job as defineJob returned it, got ${JSON.stringify(wrongJobs[i]) ?? 'undefined'}`,
        failure: { code: 'invalid_argument' },
      })
    const names = await Promise.all(runs.map(async ({ id }) => (await durably.getSteps(id)).map(({ name }) => name)))
    expect(names).toEqual([[`${verb} without a job`], [`${verb} without a job`], [`${verb} name`]])
  })

  test('what takes an instance refuses something else, and an instance of another copy of the package', async () => {
    const handler = (durably: unknown) => () => durablyHandler(durably as never, { authorize: allowAll() })
    expect(handler(undefined)).toThrow(
      refusal('invalid_argument', 'durablyHandler takes what createDurably returned as its first argument'),
    )
    vi.resetModules()
    const copy = await import('../../src/index.ts')
    const { memoryStore } = await import('../../src/memory.ts')
    const foreign = copy.createDurably({ store: memoryStore() })
    const advice =
      "got an instance of another copy of @coji/durably; a bundler must leave the package outside, in Next.js with serverExternalPackages: ['@coji/durably']"
    expect(handler(foreign)).toThrow(refusal('invalid_argument', `durablyHandler ${advice}`))
    expect(() => cluster(foreign as never)).toThrow(refusal('invalid_argument', `cluster ${advice}`))
    await expect(drain(foreign as never, virtualEnv())).rejects.toThrow(refusal('invalid_argument', `drain ${advice}`))
    await expect(drain(createDurably({ store: memoryStore() }), undefined as never)).rejects.toThrow(
      refusal('invalid_argument', 'drain takes the virtualEnv() of the instance as its second argument'),
    )
  })

  test('an event that does not exist', async () => {
    const { durably } = await setup('memory')
    expect(() => durably.on('run:completed' as never, () => {})).toThrow(
      refusal('invalid_argument', 'there is no event "run:completed"; did you mean "run:complete"?'),
    )
    expect(() => durably.on('failed' as never, () => {})).toThrow(refusal('invalid_argument', 'there is no event "failed"'))
  })
})
