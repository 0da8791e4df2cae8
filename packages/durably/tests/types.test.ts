// The API as a program sees it: checked by `tsc -b`, which `npm test` runs first.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Checkpoint,
  createDurably,
  type Durably,
  DurablyError,
  type DurablyEvent,
  type DurablyOptions,
  type Emit,
  type ErrorCode,
  emptyRunView,
  type JobContext,
  type JobHandle,
  NonRetryableError,
  type Phase,
  type Plugin,
  type Progress,
  type RetentionOption,
  type RetryPolicy,
  type Run,
  type RunFilter,
  type RunLogEvent,
  type RunStatus,
  type RunView,
  reduceRun,
  retry,
  retryAfter,
  type SentSignal,
  type Subscription,
} from '../src/index.ts'
import { memoryStore } from '../src/memory.ts'
import type { DurablyTables } from '../src/store/sql/shared/schema.ts'

const durably = createDurably({ store: memoryStore() })

/** No code of the callbacks runs: only their types are looked at. */
const never = async (_: () => Promise<unknown>) => {}

const syncUsers = durably.defineJob(
  {
    name: 'sync-users',
    input: z.object({ orgId: z.string(), force: z.boolean().optional(), since: z.coerce.date().default(new Date(0)) }),
    output: z.object({ syncedCount: z.number(), kind: z.string().default('all') }),
  },
  async (ctx, payload) => {
    expectTypeOf(payload).toEqualTypeOf<{ orgId: string; force?: boolean | undefined; since: Date }>()
    expectTypeOf(ctx).toEqualTypeOf<JobContext>()
    const users = await ctx.run('fetch-users', async () => [{ id: 1, name: 'a' }])
    expectTypeOf(users).toEqualTypeOf<{ id: number; name: string }[]>()
    const count = await ctx.run<number>('count', async () => JSON.parse('1') as number)
    expectTypeOf(count).toEqualTypeOf<number>()
    const sync = await ctx.run('sync', () => 'not a promise' as const)
    expectTypeOf(sync).toEqualTypeOf<'not a promise'>()
    const nothing = await ctx.run('nothing', async () => {})
    expectTypeOf(nothing).toEqualTypeOf<void>()
    await ctx.run('with its context', ({ signal, log }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(log.warn).toBeCallableWith('text', { any: 'data' })
    })
    const streamed = await ctx.stream('stream', async (emit, checkpoint, { signal, log }) => {
      expectTypeOf(emit).toEqualTypeOf<Emit>()
      expectTypeOf(emit).toBeCallableWith('text')
      expectTypeOf(emit).toBeCallableWith({ any: ['value', 1n] })
      expectTypeOf(emit).returns.toEqualTypeOf<Promise<void>>()
      expectTypeOf(checkpoint).toEqualTypeOf<Checkpoint<unknown>>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(log.info).toBeCallableWith('text')
      return 'value' as const
    })
    expectTypeOf(streamed).toEqualTypeOf<'value'>()
    const resumed = await ctx.stream<number, { page: number }>('resumed', (_, checkpoint) => {
      expectTypeOf(checkpoint.state).toEqualTypeOf<{ page: number } | undefined>()
      expectTypeOf(checkpoint).toBeCallableWith({ page: 1 })
      expectTypeOf(checkpoint).returns.toEqualTypeOf<Promise<void>>()
      // @ts-expect-error the state is what it was said to be
      void never(() => checkpoint('page 1'))
      return checkpoint.state?.page ?? 0
    })
    expectTypeOf(resumed).toEqualTypeOf<number>()
    // @ts-expect-error the output of a stream can be replaced by a next attempt, so it cannot be an effect
    void never(() => ctx.stream('effect', { effect: 'once' }, async () => {}))
    // @ts-expect-error a stream is a function
    void never(() => ctx.stream('not a function', 'text'))
    expectTypeOf(ctx.runId).toEqualTypeOf<string>()
    expectTypeOf(ctx.progress).toBeCallableWith(1, 2, 'text')
    expectTypeOf(ctx.progress).toBeCallableWith(1)
    return { syncedCount: users.length + count }
  },
)

describe('types', () => {
  test('a handle carries name, input and output of its schemas (000 §ジョブとステップ)', () => {
    type Input = { orgId: string; force?: boolean | undefined; since?: unknown }
    type Output = { syncedCount: number; kind: string }
    expectTypeOf(syncUsers).toEqualTypeOf<JobHandle<'sync-users', Input, Output>>()
    expectTypeOf(syncUsers.name).toEqualTypeOf<'sync-users'>()
    expectTypeOf(syncUsers.trigger).returns.resolves.toEqualTypeOf<Run<Output>>()
    expectTypeOf(syncUsers.triggerAndWait).returns.resolves.toEqualTypeOf<{ id: string; output: Output }>()
    expectTypeOf(syncUsers.batchTrigger).returns.resolves.toEqualTypeOf<Run<Output>[]>()
    expectTypeOf(syncUsers.getRun).returns.resolves.toEqualTypeOf<Run<Output> | null>()
    expectTypeOf(syncUsers.getRuns).toBeCallableWith({ status: 'failed', jobName: 'sync-users' } satisfies RunFilter)
    expectTypeOf(syncUsers.getRuns).returns.resolves.toEqualTypeOf<Run<Output>[]>()
    expect(syncUsers.name).toBe('sync-users')
  })

  test('a wrong input, option or output does not compile', async () => {
    await never(async () => {
      // @ts-expect-error orgId is a string
      await syncUsers.trigger({ orgId: 1 })
      // @ts-expect-error orgId is missing
      await syncUsers.trigger({})
      // @ts-expect-error there is no such option
      await syncUsers.trigger({ orgId: 'a' }, { idempotency: 'x' })
      // @ts-expect-error a batch holds { payload, options }
      await syncUsers.batchTrigger([{ orgId: 'a' }])
      // @ts-expect-error only triggerAndWait has a timeout
      await syncUsers.trigger({ orgId: 'a' }, { timeout: 1 })
      await syncUsers.triggerAndWait({ orgId: 'a' }, { timeout: 1, idempotencyKey: 'k', concurrencyKey: 'c' })
      await syncUsers.batchTrigger([{ payload: { orgId: 'a' } }, { payload: { orgId: 'b' }, options: { idempotencyKey: 'k' } }])
      // @ts-expect-error the output must fit its schema
      durably.defineJob({ name: 'x', input: z.string(), output: z.object({ n: z.number() }) }, async () => ({ n: 'one' }))
    })
  })

  test('run.status === "completed" gives the typed output, and "failed" an error (000 §Run の取得)', () => {
    expectTypeOf<Run<number>['status']>().toEqualTypeOf<RunStatus>()
    expectTypeOf<Extract<Run<number>, { status: 'completed' }>['output']>().toEqualTypeOf<number>()
    const look = (run: Run<{ n: number }> | null) => {
      if (run?.status === 'completed') expectTypeOf(run.output.n).toEqualTypeOf<number>()
      if (run?.status === 'pending') expectTypeOf(run.output).toEqualTypeOf<null>()
      if (run?.status === 'failed') expectTypeOf(run.error).toEqualTypeOf<string>()
      if (run) expectTypeOf(run.progress).toEqualTypeOf<Progress | null>()
      return run?.status === 'completed' ? run.output.n : undefined
    }
    expect(look(null)).toBeUndefined()
  })

  test('across jobs the output is unknown (000 §Run の取得)', () => {
    expectTypeOf(durably.getRun).returns.resolves.toEqualTypeOf<Run | null>()
    expectTypeOf(durably.getRuns).returns.resolves.toEqualTypeOf<Run[]>()
    expectTypeOf<Extract<Run, { status: 'completed' }>['output']>().toEqualTypeOf<unknown>()
  })

  test('without an output schema the output is what the job returns', async () => {
    const plain = durably.defineJob({ name: 'plain', input: z.object({}) }, async () => ({ at: new Date(), n: 1 }))
    expectTypeOf(plain).toEqualTypeOf<JobHandle<'plain', Record<string, never>, { at: Date; n: number }>>()
    const nothing = durably.defineJob({ name: 'nothing', input: z.string() }, async () => {})
    expectTypeOf(nothing).toEqualTypeOf<JobHandle<'nothing', string, void>>()
    const sync = durably.defineJob({ name: 'sync', input: z.string() }, (_, text) => text.length)
    expectTypeOf(sync.triggerAndWait).returns.resolves.toEqualTypeOf<{ id: string; output: number }>()
  })

  test('any Standard Schema will do: one written by hand is inferred like zod’s', async () => {
    const celsius: StandardSchemaV1<string, number> = {
      '~standard': {
        version: 1,
        vendor: 'by hand',
        validate: (value) =>
          Number.isNaN(Number(value)) ? { issues: [{ message: 'is no temperature', path: ['degrees'] }] } : { value: Number(value) },
      },
    }
    const job = durably.defineJob({ name: 'celsius', input: celsius, output: celsius }, async (_, degrees) => {
      expectTypeOf(degrees).toEqualTypeOf<number>()
      return String(degrees * 2)
    })
    expectTypeOf(job).toEqualTypeOf<JobHandle<'celsius', string, number>>()
    await expect(job.trigger('warm')).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('degrees: is no temperature'),
    })
    const { id } = await job.trigger('21')
    await durably.processUntilIdle()
    expect(await job.getRun(id)).toMatchObject({ payload: 21, output: 42 })
  })
})

describe('types of events, plugins and errors', () => {
  test('a listener gets the event of its type (000 §イベント型定義)', () => {
    durably.on('run:complete', (event) => {
      expectTypeOf(event.type).toEqualTypeOf<'run:complete'>()
      expectTypeOf(event.output).toEqualTypeOf<unknown>()
      expectTypeOf(event.duration).toEqualTypeOf<number>()
    })
    durably.on('log:write', (event) => expectTypeOf(event.level).toEqualTypeOf<'info' | 'warn' | 'error'>())
    durably.on('run:fail', ({ failedStepName, error }) => expectTypeOf([failedStepName, error]).toEqualTypeOf<string[]>())
    // @ts-expect-error there is no such event
    void never(async () => durably.on('run:done', () => {}))
    expectTypeOf(durably.on).returns.toEqualTypeOf<() => void>()
  })

  test('the union is discriminated by `type`', () => {
    const describeEvent = (event: DurablyEvent): string => {
      switch (event.type) {
        case 'step:complete':
          return `${event.stepName} ${event.stepIndex} ${event.duration}`
        case 'run:progress':
          return String(event.progress.current)
        case 'worker:error':
          return `${event.runId} ${event.error}`
        case 'worker:lead':
          return event.state
        case 'log:write':
          return event.message
        default:
          expectTypeOf(event.jobName).toEqualTypeOf<string>()
          return event.jobName
      }
    }
    expectTypeOf<DurablyEvent['sequence']>().toEqualTypeOf<number>()
    expectTypeOf<DurablyEvent['timestamp']>().toEqualTypeOf<string>()
    expect(describeEvent({ type: 'run:cancel', runId: 'r', jobName: 'j', sequence: 1, timestamp: '' })).toBe('j')
  })

  test('a subscription is a stream and can be iterated; a view is made of its events', async () => {
    expectTypeOf(durably.subscribe).returns.toEqualTypeOf<Subscription>()
    expectTypeOf<Subscription>().toExtend<ReadableStream<RunLogEvent>>()
    expectTypeOf<Subscription>().toExtend<AsyncIterable<RunLogEvent>>()
    expectTypeOf(durably.subscribe).toBeCallableWith('id', { after: 1, signal: new AbortController().signal })
    expectTypeOf<Exclude<DurablyEvent['type'], RunLogEvent['type']>>().toEqualTypeOf<'worker:error' | 'worker:lead'>()
    await never(async () => {
      let view: RunView = emptyRunView
      for await (const event of durably.subscribe('id')) {
        view = reduceRun(view, event)
        if (event.type === 'stream:chunk') expectTypeOf(event.checkpoint).toEqualTypeOf<{ state: unknown } | undefined>()
        if (event.type === 'stream:reset') expectTypeOf(event.to).toEqualTypeOf<number>()
      }
      expectTypeOf(view.status).toEqualTypeOf<RunStatus>()
      expectTypeOf(view.streams.text?.text).toEqualTypeOf<string | undefined>()
      // @ts-expect-error there is no such option
      durably.subscribe('id', { from: 1 })
      // @ts-expect-error a view is never changed
      view.status = 'failed'
    })
  })

  test('use() chains, db is a Kysely of our tables, codes are a closed union', () => {
    const plugin: Plugin = { name: 'none', install() {} }
    expectTypeOf(durably.use(plugin)).toEqualTypeOf<Durably>()
    expectTypeOf<Durably['db']>().toHaveProperty('selectFrom')
    expectTypeOf<keyof DurablyTables>().toEqualTypeOf<
      | ('runs' | 'steps' | 'logs' | 'run_events' | 'signals' | 'run_labels')
      | ('leaders' | 'schedules' | 'archive_removals' | 'workers' | 'schema_versions')
      | ('inbox' | 'job_definitions' | 'settings' | 'audit')
    >()
    expectTypeOf(new DurablyError('run_failed', '').code).toEqualTypeOf<ErrorCode>()
    // @ts-expect-error not a code
    new DurablyError('oops', '')
    expectTypeOf<Durably>().toExtend<AsyncDisposable>()
  })

  test('what a job waits for is typed: signals by their schema, children by their job', async () => {
    await never(async () => {
      const length = durably.defineJob({ name: 'length', input: z.string(), output: z.number() }, async (_, text) => text.length)
      const untyped = durably.defineJob({ name: 'untyped', input: z.null() }, async () => ({ a: 1 as number }))
      durably.defineJob({ name: 'waits', input: z.null(), retry: retry.exponential({ initial: '1s' }), timeout: '5m' }, async (ctx) => {
        expectTypeOf(await ctx.waitFor('n', { schema: z.object({ n: z.string().transform(Number) }), timeout: '7d' })).toEqualTypeOf<{
          n: number
        }>()
        expectTypeOf(await ctx.waitFor('any')).toEqualTypeOf<unknown>()
        expectTypeOf(await ctx.invoke(length, 'text')).toEqualTypeOf<number>()
        expectTypeOf(await ctx.invoke(untyped, null)).toEqualTypeOf<{ a: number }>()
        expectTypeOf(await ctx.trigger(length, 'text', { name: 'x', concurrencyKey: 'k' })).toEqualTypeOf<{ id: string }>()
        // @ts-expect-error the child takes a text
        await ctx.invoke(length, 5)
        expectTypeOf(await ctx.sleep('nap', '1.5h')).toEqualTypeOf<void>()
        // @ts-expect-error not a unit
        await ctx.sleep('nap', '5 parsecs')
        expectTypeOf(await ctx.transaction('t', async () => 5 as const)).toEqualTypeOf<5>()
        const rows = ctx.transaction('unregistered tables', async (trx) => {
          await trx.insertInto('bookings').values({ seat: '7a' }).execute()
          // @ts-expect-error it is a transaction, not anything
          trx.fly()
          return trx.selectFrom('bookings').select('seat').execute()
        })
        expectTypeOf(await rows).toEqualTypeOf<{ seat: unknown }[]>()
        expectTypeOf(
          await ctx.run('s', { retry: retry.none(), timeout: 5, effect: 'once' }, ({ attempt }) => attempt),
        ).toEqualTypeOf<number>()
        // @ts-expect-error there is no other effect
        await ctx.run('s', { effect: 'twice' }, () => {})
        expectTypeOf(ctx.attempt).toEqualTypeOf<number>()
      })
      await length.trigger('text', { delay: '1h', deadline: new Date() })
      await length.trigger('text', { runAt: new Date(), deadline: '2d' })
    })
  })

  test('declared signals are typed at both ends', async () => {
    await never(async () => {
      const signals = { approval: z.object({ ok: z.boolean(), at: z.coerce.date() }), note: z.string() }
      const job = durably.defineJob({ name: 'declares', input: z.null(), signals }, async (ctx) => {
        expectTypeOf(await ctx.waitFor('approval', { timeout: '1d' })).toEqualTypeOf<{ ok: boolean; at: Date }>()
        expectTypeOf(await ctx.waitFor('note')).toEqualTypeOf<string>()
        // @ts-expect-error it is not declared
        await ctx.waitFor('aproval')
        // @ts-expect-error its schema is the declared one
        await ctx.waitFor('note', { schema: z.number() })
        const helper = async (anyContext: JobContext) => anyContext.run('step', () => 1)
        await helper(ctx)
        return 'done'
      })
      expectTypeOf(job.triggerAndWait).returns.resolves.toEqualTypeOf<{ id: string; output: string }>()
      await job.signal('id', 'approval', { ok: true, at: '2030-01-01' }, { idempotencyKey: 'k' })
      await job.signal('id', 'note', 'text')
      // @ts-expect-error it is not declared
      await job.signal('id', 'aproval', { ok: true, at: 0 })
      // @ts-expect-error it does not fit
      await job.signal('id', 'note', { ok: true })
      const undeclared = durably.defineJob({ name: 'undeclared', input: z.null() }, (ctx) => ctx.waitFor('any'))
      await undeclared.signal('id', 'whatever', { any: 'value' })
      const jobs: Record<string, JobHandle<string, never, unknown>> = { job, undeclared }
      expectTypeOf(jobs).toBeObject()
      expectTypeOf(durably.getSignals).returns.resolves.toEqualTypeOf<SentSignal[]>()
    })
  })

  test('policies, signals, decisions and counts', async () => {
    expectTypeOf(retry.fixed({ maxAttempts: 3, delay: '1m' })).toEqualTypeOf<RetryPolicy>()
    expectTypeOf<RetryPolicy>().toBeCallableWith(1, new Error('x'), () => 0.5)
    expectTypeOf(retryAfter(new RangeError('x'), '1s')).toEqualTypeOf<RangeError>()
    expectTypeOf(new NonRetryableError('x', { cause: 1 })).toExtend<Error>()
    expectTypeOf(durably.signal).toBeCallableWith('id', 'name', { any: 1 }, { idempotencyKey: 'k' })
    expectTypeOf(durably.decide).toBeCallableWith('id', 'step', { done: 1 })
    expectTypeOf(durably.decide).toBeCallableWith('id', 'step', 'run again')
    expectTypeOf(durably.countsByPhase).returns.resolves.toEqualTypeOf<Record<Phase, number>>()
    expectTypeOf(durably.purge).toBeCallableWith({ olderThan: '30d', status: ['completed', 'failed'], limit: 5 })
    expectTypeOf<DurablyOptions['retention']>().toEqualTypeOf<RetentionOption | undefined>()
    expectTypeOf<Run['phase']>().toEqualTypeOf<Phase>()
  })
})
