// One DurablyClient, wherever it asks: the same answers beside the engine and across HTTP.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ConnectionState } from '../../src/client/durably-client.ts'
import { emptyRunView, reduceRun } from '../../src/client/run-view.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { PageOptions } from '../../src/model/page-options.ts'
import type { Run } from '../../src/model/run.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { gate } from '../engine/gate.ts'
import { logOf } from '../engine/run-log.ts'
import { CLIENTS, type ClientName, setup as setupWorld } from './world.ts'

const anything = z.unknown()
const STRANGE = {
  at: new Date(5),
  big: 2n ** 70n,
  map: new Map([[1, new Set(['x'])]]),
  nothing: undefined,
  bytes: new Uint8Array([1, 2]),
  zero: -0,
}

async function setup(name: ClientName) {
  const world = await setupWorld(name)
  const { durably } = world
  durably.use(withLogPersistence())
  const jobs = {
    echo: durably.defineJob({ name: 'echo', input: anything }, async (ctx, payload) => {
      ctx.log.info('a line', { of: 'data' })
      await ctx.run('step', () => payload)
      return payload
    }),
    greet: durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, async (_, { name }) => `hello ${name}`),
    fails: durably.defineJob({ name: 'fails', input: anything }, () => Promise.reject(new Error('bad'))),
    asks: durably.defineJob({ name: 'asks', input: anything }, (ctx) => ctx.waitFor('answer/to "it"?')),
  }
  return { ...world, jobs }
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}

function follow<T>(iterable: AsyncIterable<T>): { items: T[]; ended: Promise<unknown> } {
  const items: T[] = []
  const ended = (async () => {
    for await (const item of iterable) items.push(item)
  })().catch((error: unknown) => error)
  return { items, ended }
}

const refused = (code: string) => expect.objectContaining({ constructor: DurablyError, code })

describe.each(CLIENTS)('the %s client', (name) => {
  test('triggers by name, and values arrive as they are', async () => {
    const { client, durably, within } = await setup(name)
    const run = await within(100, client.trigger('echo', STRANGE, { concurrencyKey: 'c', deadline: '1h' }))
    expect(run).toMatchObject({ jobName: 'echo', status: 'pending', payload: STRANGE, concurrencyKey: 'c' })
    expect(run.waitingFor).toEqual({ kind: 'slot' })
    // Where a single run is read, it is known that no worker was started here.
    expect({ ...run, waitingFor: { kind: 'worker' } }).toEqual(await durably.getRun(run.id))
    await within(1000, durably.processUntilIdle())
    const done = await within(100, client.getRun(run.id))
    expect(done).toEqual(await durably.getRun(run.id))
    expect(done?.output).toEqual(STRANGE)
    expect(done).toHaveProperty('output.zero', -0)
  })

  test('a run that is triggered with holdKey keeps its key while it waits', async () => {
    const { client, durably, within } = await setup(name)
    const options = { concurrencyKey: 'c', holdKey: true }
    const first = await within(100, client.trigger('asks', 1, options))
    const [second] = await within(100, client.batchTrigger('echo', [{ payload: 2, options }]))
    await within(1000, durably.processUntilIdle())
    expect(await within(100, client.getRun(second?.id ?? ''))).toMatchObject({
      status: 'pending',
      waitingFor: { kind: 'key', heldBy: first.id },
    })
    await within(100, client.signal(first.id, 'answer/to "it"?', 'yes'))
    await within(1000, durably.processUntilIdle())
    expect(await within(100, client.getRun(second?.id ?? ''))).toMatchObject({ status: 'completed' })
  })

  test('another version is refused with both versions', async () => {
    const { client, within } = await setup(name)
    const { id, version } = await within(100, client.trigger('echo', 1))
    const refusal = expect.objectContaining({
      constructor: DurablyError,
      code: 'version_mismatch',
      runId: id,
      expected: 77,
      actual: version,
    })
    await expect(within(100, client.cancel(id, { ifVersion: 77 }))).rejects.toEqual(refusal)
  })

  test('a run may prefer a worker', async () => {
    const { client, store, within } = await setup(name)
    const { id } = await within(100, client.trigger('echo', 1, { preferWorkerId: 'machine-1' }))
    expect((await store.runs.get(id))?.preferWorkerId).toBe('machine-1')
    await expect(within(100, client.trigger('echo', 1, { preferWorkerId: '' }))).rejects.toThrow(/preferWorkerId/)
  })

  test('a key gives the same run again, and a time is kept', async () => {
    const { client, env, within } = await setup(name)
    const first = await within(100, client.trigger('echo', 1, { idempotencyKey: 'käy/1', runAt: new Date(env.wall() + 5000) }))
    expect(first.phase).toBe('sleeping')
    expect((await within(100, client.trigger('echo', 1, { idempotencyKey: 'käy/1' }))).id).toBe(first.id)
    const [second, third] = await within(100, client.batchTrigger('echo', [{ payload: 2 }, { payload: 3, options: { delay: '5s' } }]))
    expect([second?.payload, third?.payload, third?.phase]).toEqual([2, 3, 'sleeping'])
    expect(await within(100, client.batchTrigger('echo', []))).toEqual([])
    expect((await within(100, client.getRuns({ clusterState: ['PENDING', 'ASSIGNED'], phase: 'sleeping' }))).length).toBe(2)
    expect(await within(100, client.getRuns({ clusterState: 'TIMED_OUT' }))).toEqual([])
  })

  test('refuses what the engine refuses, with the same code', async () => {
    const { client, within, durably } = await setup(name)
    const rejects = (promise: Promise<unknown>, code: string) => expect(within(100, promise)).rejects.toEqual(refused(code))
    await rejects(client.trigger('nobody', 1), 'job_not_found')
    await rejects(client.batchTrigger('nobody', [{ payload: 1 }]), 'job_not_found')
    await rejects(client.trigger('greet', { name: 5 }), 'invalid_input')
    await rejects(client.batchTrigger('greet', [{ payload: { name: 'a' } }, { payload: {} }]), 'invalid_input')
    await rejects(client.trigger('echo', 1, { idempotencyKey: '' }), 'invalid_name')
    await rejects(client.trigger('echo', 1, { delay: 1, runAt: 1 }), 'invalid_argument')
    await rejects(
      client.trigger('echo', () => {}),
      'value_not_serializable',
    )
    for (const ask of [client.cancel, client.retry, client.deleteRun]) await rejects(ask('nobody'), 'run_not_found')
    await rejects(client.signal('nobody', 'x', 1), 'run_not_found')
    await rejects(client.decide('nobody', 'x', 'run again'), 'run_not_found')
    const { id } = await client.trigger('echo', 1)
    await rejects(client.retry(id), 'run_not_retryable')
    await rejects(client.deleteRun(id), 'run_active')
    await rejects(client.decide(id, 'x', 'run again'), 'invalid_argument')
    await rejects(client.getRuns({ limit: 0 }), 'invalid_argument')
    await rejects(client.getRuns({ status: 'done' as 'failed' }), 'invalid_argument')
    await rejects(client.getRuns({ cursor: 'abc' }), 'invalid_argument')
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('says what a run waits for, and why it does not go on', async () => {
    const { client, durably, within } = await setup(name)
    const { id } = await within(100, client.trigger('asks', 1))
    await within(1000, durably.processUntilIdle())
    const signal = 'answer/to "it"?'
    expect((await within(100, client.getRun(id)))?.waitingFor).toEqual({ kind: 'signal', name: signal, until: null })
    const explained = await within(100, client.explain(id))
    expect(explained).toEqual(await durably.explain(id))
    expect(explained).toMatchObject({ cause: 'signal', actor: 'sender', remedy: { do: 'signal', runId: id, name: signal } })
    await expect(within(100, client.explain('nobody'))).rejects.toEqual(refused('run_not_found'))
  })

  test('what is not there is null, or nothing', async () => {
    const { client, within } = await setup(name)
    expect(await within(100, client.getRun('nobody'))).toBeNull()
    expect(await within(100, client.getSteps('nobody'))).toEqual([])
    expect(await within(100, client.getLogs('nobody'))).toEqual([])
    expect(await within(100, client.getRuns())).toEqual([])
  })

  test('lists runs by filter, by page and all of them', async () => {
    const { client, durably, within } = await setup(name)
    await within(
      100,
      client.batchTrigger(
        'echo',
        Array.from({ length: 450 }, (_, payload) => ({ payload })),
      ),
    )
    await within(100, client.trigger('greet', { name: 'x' }))
    expect(await within(500, client.getRuns())).toEqual(await durably.getRuns())
    expect(await within(500, client.getRuns({ limit: 301, jobName: 'echo' }))).toEqual(
      await durably.getRuns({ limit: 301, jobName: 'echo' }),
    )
    const [, , cursor] = await within(100, client.getRuns({ limit: 3 }))
    const next = await within(100, client.getRuns({ limit: 2, cursor: cursor?.id ?? '', status: 'pending' }))
    expect(next.map(({ payload }) => payload)).toEqual([447, 446])
    expect(await within(100, client.getRuns({ status: 'failed' }))).toEqual([])
  })

  test('triggers with labels, and lists and watches runs by them', async () => {
    const { client, within } = await setup(name)
    const labels = { tenant: 'a & b=ü', 'app/kind': 'x' }
    const run = await within(100, client.trigger('echo', 1, { labels }))
    expect(run.labels).toEqual(labels)
    await within(100, client.batchTrigger('echo', [{ payload: 2, options: { labels: { tenant: 'other' } } }, { payload: 3 }]))
    expect(await within(100, client.getRuns({ labels, status: 'pending', limit: 5 }))).toEqual([run])
    expect(await within(100, client.getRuns({ labels: { ...labels, 'app/kind': 'y' } }))).toEqual([])
    const watched = client.watchRuns({ labels })[Symbol.asyncIterator]()
    expect((await within(100, watched.next())).value).toEqual([run])
    await watched.return?.()
    await expect(within(100, client.getRuns({ labels: { 'not a name': 'x' } }))).rejects.toEqual(refused('invalid_argument'))
  })

  test('reads steps, logs, jobs and counts', async () => {
    const { client, durably, within } = await setup(name)
    const { id } = await within(100, client.trigger('echo', STRANGE))
    await within(1000, durably.processUntilIdle())
    expect(await within(100, client.getSteps(id))).toEqual(await durably.getSteps(id))
    expect(await within(100, client.getLogs(id))).toEqual(await durably.getLogs(id))
    expect((await durably.getLogs(id)).length).toBeGreaterThan(0)
    const jobs = await within(100, client.getJobs())
    expect(jobs.map((job) => job.name)).toEqual(['echo', 'greet', 'fails', 'asks'])
    expect(jobs[1]?.input).toMatchObject({ type: 'object', properties: { name: { type: 'string' } } })
    expect(await within(100, client.countsByPhase())).toEqual(await durably.countsByPhase())
  })

  test('refuses what is not known, and does nothing then', async () => {
    const { client, durably, within } = await setup(name)
    const { id } = await within(100, client.trigger('echo', 1))
    const misspelt = { ...{ ifversion: 7, idempotencykey: 'k', jobname: 'echo', afterr: 1 } } as never
    const calls: [string, () => Promise<unknown>][] = [
      ['"ifversion"', () => client.cancel(id, misspelt)],
      ['"ifversion"', () => client.retry(id, misspelt)],
      ['"ifversion"', () => client.deleteRun(id, misspelt)],
      ['"ifversion"', () => client.trigger('echo', 2, misspelt)],
      ['"ifversion"', () => client.signal(id, 'name', 1, misspelt)],
      ['"ifversion"', () => client.getRuns(misspelt)],
      ['"ifversion"', () => client.getSteps(id, misspelt)],
      ['"ifversion"', async () => all(client.subscribe(id, misspelt))],
      ['"ifversion"', async () => all(client.watchRuns({}, misspelt))],
      ['"ifversion"', async () => all(client.watchRuns(misspelt))],
    ]
    for (const [word, call] of calls) {
      const error = await within(
        1000,
        call().catch((error: unknown) => error),
      )
      expect(error, String(call)).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(word) })
    }
    expect(await durably.getRuns()).toMatchObject([{ id, status: 'pending' }])
    await expect(within(1000, client.getRuns({ phse: 'ready' } as never))).rejects.toThrow(/"phse"; did you mean "phase"\?/)
  })

  test('changes many runs at once', async () => {
    const { client, durably, jobs, within } = await setup(name)
    await jobs.fails.trigger(0)
    await within(1000, durably.processUntilIdle())
    await jobs.echo.batchTrigger(Array.from({ length: 230 }, (_, payload) => ({ payload })))
    expect(await within(1000, client.retryRuns({ jobName: 'fails' }))).toEqual({ count: 1, cursor: null })
    const first = await within(1000, client.cancelRuns({ jobName: ['echo'], createdAfter: new Date(0) }, { limit: 120 }))
    expect(first).toEqual({ count: 120, cursor: expect.any(String) })
    expect(await durably.getRuns({ status: 'cancelled' })).toHaveLength(120)
    const rest = await within(1000, client.cancelRuns({ jobName: ['echo'] }, { cursor: first.cursor ?? '' }))
    expect(rest).toEqual({ count: 110, cursor: null })
    expect(await within(1000, client.deleteRuns({}))).toEqual({ count: 230, cursor: null })
    expect(await durably.getRuns()).toMatchObject([{ jobName: 'fails', status: 'pending' }])
    await expect(within(1000, client.cancelRuns({ jobname: 'x' } as never))).rejects.toThrow(/did you mean "jobName"\?/)
    await expect(within(1000, client.cancelRuns(undefined as never))).rejects.toThrow(/cancelRuns needs a filter/)
    await expect(within(1000, client.cancelRuns({}, { limt: 1 } as never))).rejects.toThrow(/did you mean "limit"\?/)
    await expect(within(1000, client.cancelRuns({}, { limit: 0 }))).rejects.toThrow(/limit must be a positive whole number, got 0/)
    expect(await durably.getRuns({ status: 'pending' })).toHaveLength(1)
  })

  test('reads steps and logs in pages, or all of them', async () => {
    const { client, durably, within } = await setup(name)
    const long = durably.defineJob({ name: 'long', input: anything }, async (ctx) => {
      for (let i = 0; i < 450; i++) {
        ctx.log.info(`line ${i}`)
        await ctx.run(`step ${i}`, () => i)
      }
    })
    const { id } = await long.trigger(null)
    await within(60_000, durably.processUntilIdle())
    for (const read of ['getSteps', 'getLogs'] as const) {
      const all = await durably[read](id)
      const page = (options?: PageOptions): Promise<unknown> => client[read](id, options)
      expect(all.length).toBeGreaterThanOrEqual(450)
      expect(await within(1000, page())).toEqual(all)
      expect(await within(1000, page({ limit: 300 }))).toEqual(all.slice(0, 300))
      expect(await within(1000, page({ limit: 10, cursor: all[299]?.id ?? '' }))).toEqual(all.slice(300, 310))
      expect(await within(1000, page({ cursor: all.at(-1)?.id ?? '' }))).toEqual([])
      await expect(within(1000, page({ limits: 5 } as never))).rejects.toThrow(/"limits"; did you mean "limit"\?/)
      await expect(within(1000, page({ cursor: 'nothing' }))).rejects.toThrow(/cursor must be the id of a/)
    }
  })

  test('cancels, retries and deletes, also only if nothing has changed', async () => {
    const { client, durably, within } = await setup(name)
    const { id } = await within(100, client.trigger('fails', 1))
    await within(1000, durably.processUntilIdle())
    const failed = await within(100, client.getRun(id))
    await expect(within(100, client.retry(id, { ifVersion: 0 }))).rejects.toEqual(refused('version_mismatch'))
    const retried = await within(100, client.retry(id, { ifVersion: failed?.version ?? -1 }))
    expect(retried).toMatchObject({ id, status: 'pending' })
    await expect(within(100, client.cancel(id, { ifVersion: failed?.version ?? -1 }))).rejects.toEqual(refused('version_mismatch'))
    expect(await within(100, client.cancel(id))).toBe('cancelled')
    expect(await within(100, client.cancel(id))).toBe('refused')
    await expect(within(100, client.deleteRun(id, { ifVersion: 0 }))).rejects.toEqual(refused('version_mismatch'))
    expect(await within(100, client.deleteRun(id))).toBeUndefined()
    expect(await durably.getRun(id)).toBeNull()
  })

  test('a signal reaches the run that waits for it, under any name', async () => {
    const { client, durably, within } = await setup(name)
    const { id } = await within(100, client.trigger('asks', null))
    await within(1000, durably.processUntilIdle())
    const send = (value: unknown, options = {}) => within(100, client.signal(id, 'answer/to "it"?', value, options))
    expect(await send(STRANGE, { idempotencyKey: 'once / 一度' })).toBeUndefined()
    await send(STRANGE, { idempotencyKey: 'once / 一度' })
    await expect(send(2)).rejects.toEqual(refused('signal_taken'))
    await within(1000, durably.processUntilIdle())
    expect((await durably.getRun(id))?.output).toEqual(STRANGE)
    await expect(within(100, client.signal(id, 'other', 3))).rejects.toEqual(refused('run_ended'))
  })

  test('subscribes to a run: the log, then live, to its end', async () => {
    const { client, durably, env, store, within } = await setup(name)
    const { opened, open } = gate()
    durably.defineJob({ name: 'long', input: anything }, async (ctx) => {
      await ctx.run('one', () => STRANGE)
      await opened
      await ctx.stream('two', async (emit) => {
        for (const word of ['a ', 'ß ', '日本 ', '👩‍👩‍👧']) await emit(word)
      })
      return 'output'
    })
    const { id } = await within(100, client.trigger('long', STRANGE))
    const states: ConnectionState[] = []
    const live = follow(client.subscribe(id, { onConnection: (state) => states.push(state) }))
    durably.start()
    await env.advance(200)
    expect(live.items.map(({ type }) => type)).toEqual(['run:trigger', 'run:start', 'step:start', 'step:complete'])
    open()
    expect(await within(2000, live.ended)).toBeUndefined()
    const log = await logOf(store, id)
    expect(live.items.reduce(reduceRun, emptyRunView)).toEqual(log.reduce(reduceRun, emptyRunView))
    expect(live.items.reduce(reduceRun, emptyRunView)).toMatchObject({
      status: 'completed',
      output: 'output',
      streams: { two: { text: 'a ß 日本 👩‍👩‍👧' } },
    })
    expect(states.at(-1)).toBe('live')

    expect(await within(200, all(client.subscribe(id)))).toEqual(log)
    expect(await within(200, all(client.subscribe(id, { after: 3 })))).toEqual(log.slice(3))
    expect(await within(200, all(client.subscribe(id, { after: log.at(-1)?.sequence ?? 0 })))).toEqual([])
  })

  test('subscribes to many runs at once, each for itself', async () => {
    const { client, durably, store, env, within } = await setup(name)
    const runs = await within(
      100,
      client.batchTrigger(
        'echo',
        Array.from({ length: 12 }, (_, payload) => ({ payload })),
      ),
    )
    const subscriptions = runs.flatMap(({ id }) => [0, 1].map((after) => ({ id, after, ...follow(client.subscribe(id, { after })) })))
    await env.advance(500)
    await within(1000, durably.processUntilIdle())
    for (const { id, after, items, ended } of subscriptions) {
      expect(await within(2000, ended)).toBeUndefined()
      expect(items).toEqual((await logOf(store, id)).slice(after))
    }
  })

  test('a subscription to what is not there, or not yet, is an error', async () => {
    const { client, durably, within } = await setup(name)
    await expect(within(200, all(client.subscribe('nobody')))).rejects.toEqual(refused('run_not_found'))
    const { id } = await within(100, client.trigger('echo', 1))
    await expect(within(200, all(client.subscribe(id, { after: 99 })))).rejects.toEqual(refused('cursor_ahead'))
    for (const after of [-1, 1.5, 1e30, Number.NaN]) expect(() => client.subscribe(id, { after })).toThrow(refused('invalid_argument'))
    const both = [client.subscribe(id, { after: 99 }), client.subscribe('nobody'), client.subscribe(id)].map(follow)
    await within(500, durably.processUntilIdle())
    expect(await within(2000, Promise.all(both.map(({ ended }) => ended)))).toEqual([
      refused('cursor_ahead'),
      refused('run_not_found'),
      undefined,
    ])
    expect(both[2]?.items.at(-1)?.type).toBe('run:complete')
  })

  test('a run that is deleted while it is followed ends its subscriptions, and no others', async () => {
    const { client, durably, env, within } = await setup(name)
    const [first, second] = await within(100, client.batchTrigger('fails', [{ payload: 1 }, { payload: 2 }]))
    const slow = follow(client.subscribe(second?.id ?? ''))
    const lost = client.subscribe(first?.id ?? '')[Symbol.asyncIterator]()
    expect((await within(200, lost.next())).value).toMatchObject({ type: 'run:trigger' })
    await client.cancel(first?.id ?? '')
    await durably.deleteRun(first?.id ?? '')
    await expect(
      within(
        3000,
        (async () => {
          while (!(await lost.next()).done);
          // Its end may have been told before it was deleted.
          throw new DurablyError('run_deleted', 'it had ended')
        })(),
      ),
    ).rejects.toEqual(refused('run_deleted'))
    await within(500, durably.processUntilIdle())
    await env.advance(200)
    expect(await within(2000, slow.ended)).toBeUndefined()
    expect(slow.items.at(-1)?.type).toBe('run:fail')
  })

  test('who leaves, leaves nothing behind', async () => {
    const { client, env, within } = await setup(name)
    const { id } = await within(100, client.trigger('echo', 1))
    const controller = new AbortController()
    const { signal } = controller
    const aborted = [client.subscribe(id, { signal }), client.subscribe(id, { after: 1, signal }), client.watchRuns({}, { signal })].map(
      (one) => follow<unknown>(one),
    )
    await within(
      200,
      (async () => {
        for await (const _ of client.subscribe(id)) break
        for await (const _ of client.watchRuns()) break
      })(),
    )
    await env.advance(100)
    expect(aborted.map(({ items }) => items.length)).toEqual([1, 0, 1])
    controller.abort(new Error('enough'))
    for (const { ended } of aborted) expect(await within(100, ended)).toEqual(new Error('enough'))
    await env.advance(5000)
    expect(env.nextInMs()).toBeNull()
    await expect(within(100, all(client.subscribe(id, { signal })))).rejects.toThrow('enough')
  })

  test('watches runs: the page, and again when it changed', async () => {
    const { client, durably, env, within } = await setup(name)
    const states: ConnectionState[] = []
    const watched = follow<readonly Run[]>(client.watchRuns({ jobName: 'echo', limit: 3 }, { onConnection: (state) => states.push(state) }))
    const same = follow<readonly Run[]>(client.watchRuns({ jobName: 'echo', limit: 3 }))
    const failed = follow<readonly Run[]>(client.watchRuns({ status: 'failed' }))
    await env.advance(200)
    expect(watched.items).toEqual([[]])
    await client.batchTrigger(
      'echo',
      [1, 2, 3, 4].map((payload) => ({ payload })),
    )
    await client.trigger('fails', 1)
    await env.advance(300)
    expect(watched.items.at(-1)?.map(({ payload }) => payload)).toEqual([4, 3, 2])
    await within(1000, durably.processUntilIdle())
    await env.advance(1500)
    for (const { items } of [watched, same]) {
      expect(items.at(-1)).toEqual(await durably.getRuns({ jobName: 'echo', limit: 3 }))
      for (const [i, page] of items.entries()) expect(page).not.toEqual(items[i - 1])
    }
    expect(failed.items.at(-1)).toEqual(await durably.getRuns({ status: 'failed' }))
    expect(states.at(-1)).toBe('live')
    expect(() => client.watchRuns({ limit: 201 })).toThrow(refused('invalid_argument'))
    expect(() => client.watchRuns({ status: 'x' as 'failed' })).toThrow(refused('invalid_argument'))
  })
})
