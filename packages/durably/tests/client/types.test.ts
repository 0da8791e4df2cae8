// What a page sees of a server's jobs: their types, by `import type` alone. Checked by `tsc -b`.
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type ClientTriggerOptions,
  type DurablyClient,
  DurablyError,
  emptyRunView,
  httpClient,
  type JobInfo,
  type JobInput,
  type JobName,
  type JobOutput,
  localClient,
  type Phase,
  type Run,
  type RunLogEvent,
  reduceRun,
} from '../../src/client/index.ts'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'

const durably = createDurably({ store: memoryStore() })

/** As a server exports them. */
const jobs = {
  greet: durably.defineJob(
    {
      name: 'greet',
      input: z.object({ name: z.string(), at: z.coerce.date().default(new Date(0)) }),
      output: z.object({ text: z.string() }),
    },
    async (_, { name }) => ({ text: name }),
  ),
  count: durably.defineJob({ name: 'count-words', input: z.string() }, async (_, text) => text.length),
}
type Jobs = typeof jobs

/** No code of the callbacks runs: only their types are looked at. */
const never = async (_: () => Promise<unknown>) => {}

describe('types of a client', () => {
  test('jobs are named by their own names, and carry input and output', () => {
    expectTypeOf<JobName<Jobs>>().toEqualTypeOf<'greet' | 'count-words'>()
    expectTypeOf<JobInput<Jobs, 'greet'>>().toEqualTypeOf<{ name: string; at?: unknown }>()
    expectTypeOf<JobInput<Jobs, 'count-words'>>().toEqualTypeOf<string>()
    expectTypeOf<JobOutput<Jobs, 'greet'>>().toEqualTypeOf<{ text: string }>()
    expectTypeOf<JobOutput<Jobs, 'count-words'>>().toEqualTypeOf<number>()
  })

  test.each(['http', 'local'])('a wrong name or input does not compile: %s', async (which) => {
    const client = which === 'http' ? httpClient<Jobs>({ url: 'http://localhost' }) : localClient<Jobs>(durably)
    expectTypeOf(client).toEqualTypeOf<DurablyClient<Jobs>>()
    await never(async () => {
      const run = await client.trigger('greet', { name: 'a' }, { idempotencyKey: 'k', delay: '5m' })
      expectTypeOf(run).toEqualTypeOf<Run<{ text: string }>>()
      if (run.status === 'completed') expectTypeOf(run.output.text).toEqualTypeOf<string>()
      expectTypeOf(await client.trigger('count-words', 'a b')).toEqualTypeOf<Run<number>>()
      expectTypeOf(await client.batchTrigger('count-words', [{ payload: 'a' }])).toEqualTypeOf<Run<number>[]>()
      // @ts-expect-error there is no such job
      await client.trigger('count', 'a b')
      // @ts-expect-error its name is a string
      await client.trigger('greet', { name: 1 })
      // @ts-expect-error it takes a text
      await client.batchTrigger('count-words', [{ payload: 1 }])
      // @ts-expect-error a transaction does not travel
      await client.trigger('count-words', 'a', { tx: {} })
      // @ts-expect-error there is no such status
      await client.getRuns({ status: 'done' })
    })
    expectTypeOf<ClientTriggerOptions>().not.toHaveProperty('tx')
  })

  test('without the jobs any name and any input goes, and nothing is known of the output', async () => {
    const client = httpClient({ url: 'http://localhost' })
    expectTypeOf(client).toEqualTypeOf<DurablyClient>()
    await never(async () => {
      expectTypeOf(await client.trigger('anything', { at: 'all' })).toEqualTypeOf<Run<unknown>>()
      expectTypeOf(await client.getRun('id')).toEqualTypeOf<Run | null>()
      expectTypeOf(await client.getJobs()).toEqualTypeOf<JobInfo[]>()
      expectTypeOf(await client.countsByPhase()).toEqualTypeOf<Record<Phase, number>>()
      expectTypeOf(await client.cancel('id', { ifVersion: 1 })).toEqualTypeOf<'cancelled' | 'requested' | 'refused'>()
      expectTypeOf(await client.deleteRun('id')).toEqualTypeOf<void>()
      expectTypeOf(client.watchRuns({ limit: 5 })).toEqualTypeOf<AsyncIterable<readonly Run[]>>()
      let view = emptyRunView
      for await (const event of client.subscribe('id', { after: 1, onConnection: (state) => expectTypeOf(state).toBeString() })) {
        expectTypeOf(event).toEqualTypeOf<RunLogEvent>()
        view = reduceRun(view, event)
      }
      await client.signal('id', 'name', { any: 1 }, { idempotencyKey: 'k' })
      await client.decide('id', 'step', { done: 1 })
    })
    expectTypeOf(new DurablyError('server_unreachable', '')).toExtend<Error>()
  })

  test('options: headers as an object, a list or a function; a fetch of one’s own', () => {
    httpClient({ url: 'http://localhost', headers: { authorization: 'x' } })
    httpClient({ url: 'http://localhost', headers: async () => [['authorization', 'x']] })
    httpClient({ url: 'http://localhost', fetch: (url, init) => fetch(url, { ...init, credentials: 'include' }) })
    // @ts-expect-error it needs to know where
    void (() => httpClient({}))
  })
})
