// Labels: given at trigger, handed on to children, seen on the run, and what lists and commands for many runs go by.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import type { Labels, TriggerOptions } from '../../src/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const ACME = { tenant: 'acme' }

const defineJob = (durably: Durably) => durably.defineJob({ name: 'job', input: anything }, async (_, payload) => payload)

describe.each(WORLDS)('labels on %s', (world) => {
  test('a run has the labels that it was triggered with, wherever it is seen', async () => {
    const { durably, soon } = await setup(world)
    const job = defineJob(durably)
    const labels = { tenant: 'acme', 'app/kind:x_1.2-b': 'import', empty: '' }
    const run = await soon(job.trigger(1, { labels }))
    expect(run.labels).toEqual(labels)
    expect((await durably.getRun(run.id))?.labels).toEqual(labels)
    expect((await soon(durably.getRuns()))[0]?.labels).toEqual(labels)
    const plain = await job.trigger(2)
    expect([plain.labels, (await soon(job.trigger(3, { labels: {} }))).labels]).toEqual([{}, {}])
  })

  test('each item of a batch has its own, and a trigger that is waited for has them too', async () => {
    const { durably, soon, within } = await setup(world)
    const job = defineJob(durably)
    const batch = [{ payload: 1, options: { labels: ACME } }, { payload: 2 }, { payload: 3, options: { labels: { tenant: 'b' } } }]
    expect((await soon(job.batchTrigger(batch))).map(({ labels }) => labels)).toEqual([ACME, {}, { tenant: 'b' }])
    durably.start()
    const { id } = await within(1000, job.triggerAndWait(4, { labels: { kind: 'waited' } }))
    expect((await durably.getRun(id))?.labels).toEqual({ kind: 'waited' })
  })

  test('children have the labels of their parent, their own win, and grandchildren have both', async () => {
    const { durably, env, soon } = await setup(world)
    const leaf = defineJob(durably)
    const middle = durably.defineJob({ name: 'middle', input: anything }, (ctx) => ctx.invoke(leaf, 'leaf', { labels: { depth: '2' } }))
    const top = durably.defineJob({ name: 'top', input: anything }, async (ctx) => {
      await ctx.invoke(middle, 'middle', { labels: { kind: 'own', depth: '1' } })
      await ctx.trigger(leaf, 'plain')
    })
    await soon(top.trigger('top', { labels: { ...ACME, kind: 'import' } }))
    durably.start()
    await env.advance(5000)
    const runs = await soon(durably.getRuns({ labels: ACME, status: 'completed', limit: 10 }))
    expect(Object.fromEntries(runs.map(({ payload, labels }) => [payload, labels]))).toEqual({
      top: { tenant: 'acme', kind: 'import' },
      middle: { tenant: 'acme', kind: 'own', depth: '1' },
      leaf: { tenant: 'acme', kind: 'own', depth: '2' },
      plain: { tenant: 'acme', kind: 'import' },
    })
  })

  test('the run that is waited for outside, and the runs of a run without labels, have none', async () => {
    const { durably, env, soon } = await setup(world)
    const leaf = defineJob(durably)
    const top = durably.defineJob({ name: 'top', input: anything }, (ctx) => ctx.invoke(leaf, 1, { labels: {} }))
    await soon(top.trigger(1))
    durably.start()
    await env.advance(1000)
    expect((await soon(durably.getRuns())).map(({ status, labels }) => [status, labels])).toEqual([
      ['completed', {}],
      ['completed', {}],
    ])
  })

  test('a child whose labels are too many together with those of its parent fails its step', async () => {
    const { durably, env, soon } = await setup(world)
    const leaf = defineJob(durably)
    const top = durably.defineJob({ name: 'top', input: anything }, (ctx) => ctx.invoke(leaf, 1, { labels: ACME }))
    const { id } = await soon(top.trigger(1, { labels: many(16) }))
    durably.start()
    await env.advance(1000)
    const { error } = (await durably.getRun(id)) ?? {}
    expect(error).toContain('labels must be at most 16 together with those of the run that triggers it, got 17')
  })

  test('lists, pages both ways and watches go by labels', async () => {
    const { durably, soon, within } = await setup(world)
    const job = defineJob(durably)
    const items = Array.from({ length: 9 }, (_, i) => ({ payload: i, options: { labels: { tenant: i % 3 ? 'acme' : 'b', n: `${i}` } } }))
    await soon(job.batchTrigger(items))
    const payloads = async (runs: Promise<readonly { payload: unknown }[]>) => (await soon(runs)).map(({ payload }) => payload)
    expect(await payloads(durably.getRuns({ labels: ACME }))).toEqual([8, 7, 5, 4, 2, 1])
    expect(await payloads(job.getRuns({ labels: { tenant: 'acme', n: '5' }, limit: 5 }))).toEqual([5])
    expect(await payloads(job.getRuns({ labels: { tenant: 'b', n: '5' } }))).toEqual([])
    const page = await soon(durably.getRuns({ labels: ACME, limit: 2 }))
    const next = await soon(durably.getRuns({ labels: ACME, limit: 2, cursor: page[1]?.id ?? '' }))
    expect(next.map(({ payload }) => payload)).toEqual([5, 4])
    expect(await payloads(durably.getRuns({ labels: ACME, limit: 2, cursor: next[0]?.id ?? '', direction: 'previous' }))).toEqual([8, 7])
    const watched = durably.watchRuns({ labels: { tenant: 'b' } })[Symbol.asyncIterator]()
    expect((await within(100, watched.next())).value?.map(({ payload }: { payload: unknown }) => payload)).toEqual([6, 3, 0])
    await soon(job.trigger('other', { labels: ACME }))
    await soon(job.trigger('new', { labels: { tenant: 'b' } }))
    expect((await within(1000, watched.next())).value?.map(({ payload }: { payload: unknown }) => payload)).toEqual(['new', 6, 3, 0])
    await watched.return?.(undefined)
  })

  test('commands for many runs reach those with the labels, and no others', async () => {
    const { durably, soon } = await setup(world)
    const job = defineJob(durably)
    await soon(job.batchTrigger(['acme', 'b', 'acme'].map((tenant) => ({ payload: tenant, options: { labels: { tenant } } }))))
    expect(await soon(durably.cancelRuns({ labels: ACME }))).toMatchObject({ count: 2 })
    expect(await soon(durably.deleteRuns({ labels: { tenant: 'b' } }))).toMatchObject({ count: 0 })
    expect(await soon(durably.deleteRuns({ labels: ACME }))).toMatchObject({ count: 2 })
    expect((await soon(durably.getRuns())).map(({ payload, status }) => [payload, status])).toEqual([['b', 'pending']])
    await rejects(soon(durably.deleteRuns({ labels: {} })), 'invalid_argument', 'no label')
  })

  test('a second trigger with the same key returns the run with the labels of the first', async () => {
    const { durably, soon } = await setup(world)
    const job = defineJob(durably)
    const first = await soon(job.trigger(1, { idempotencyKey: 'k', labels: ACME }))
    const second = await soon(job.trigger(1, { idempotencyKey: 'k', labels: { tenant: 'b' } }))
    expect([second.id, second.labels]).toEqual([first.id, ACME])
  })

  test('labels that cannot be read are named with their run and column', async () => {
    const { durably, store, env } = await setup(world)
    defineJob(durably)
    const times = { createdAt: new Date(env.wall()).toISOString(), delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }
    const keys = { idempotencyKey: null, concurrencyKey: null, holdKey: false, parentRunId: null, parentStep: null, parentToken: null }
    const id = env.id()
    const creating = store.runs.create([{ id, jobName: 'job', payload: '1', labels: '{broken', ...times, ...keys }])
    // A database that writes the rows of its labels refuses it.
    if (world === 'sqlite') return void (await expect(creating).rejects.toThrow())
    await creating
    const error = await rejects(durably.getRun(id), 'row_unreadable', 'getRun')
    expect(error.message).toContain(`run ${id}: column labels cannot be read`)
  })
})

function many(count: number): Labels {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`label-${i}`, 'x']))
}

const WRONG: [what: string, labels: unknown, message: string][] = [
  ['a text', 'acme', "labels must be an object such as { tenant: 'acme' }, got string"],
  ['null', null, 'got null'],
  ['a list', ['acme'], 'got Array'],
  ['a Map', new Map([['tenant', 'acme']]), 'got Map'],
  ['too many', many(17), 'labels must be at most 16, got 17; put other data into the input'],
  ['a number', { tenant: 1 }, 'label "tenant" must be a string, got number; write it as a text, or leave the label out'],
  ['undefined', { tenant: undefined }, 'label "tenant" must be a string, got undefined'],
  ['an object', { tenant: {} }, 'got Object'],
  [
    'a long value',
    { tenant: 'x'.repeat(257) },
    'label "tenant" must be at most 256 characters, got 257; use a shorter one or a hash of it',
  ],
  ['a NUL', { tenant: 'a\0b' }, 'label "tenant" must not contain a NUL character'],
  ['a lone surrogate', { tenant: '\ud800' }, 'label "tenant" must be well-formed Unicode'],
  ['an empty name', { '': 'x' }, 'a label cannot be named "": a name must be 1 to 64 of A-Z, a-z, 0-9 and . _ - / :'],
  ['a long name', { ['x'.repeat(65)]: 'x' }, 'a label cannot be named "xxx'],
  ['a name with a space', { 'a b': 'x' }, 'a label cannot be named "a b"'],
  ['a name with a line break', { 'a\n': 'x' }, 'a label cannot be named'],
  ['a name of every object', JSON.parse('{"__proto__":"x"}'), 'a label cannot be named "__proto__"'],
]

describe('what cannot be a label', () => {
  test.each(WRONG)('%s is refused, and nothing is stored', async (_, labels, message) => {
    const { durably, soon } = await setup('memory')
    const job = defineJob(durably)
    const options = { labels } as TriggerOptions
    const one = await rejects(soon(job.trigger(1, options)), 'invalid_argument', 'trigger')
    const batch = await rejects(soon(job.batchTrigger([{ payload: 1 }, { payload: 2, options }])), 'invalid_argument', 'batchTrigger')
    expect([one.message, batch.message]).toEqual([expect.stringContaining(message), expect.stringContaining(message)])
    const filter = { labels: labels as Labels }
    expect((await rejects(soon(durably.getRuns(filter)), 'invalid_argument', 'getRuns')).message).toContain(message)
    expect(await soon(durably.getRuns())).toEqual([])
  })

  test('as much as is allowed is a label', async () => {
    const { durably, soon } = await setup('sqlite')
    const labels = { ...many(15), ['n'.repeat(64)]: '\u{1F600}'.repeat(128) }
    const { id } = await soon(defineJob(durably).trigger(1, { labels }))
    expect((await soon(durably.getRuns({ labels })))[0]?.id).toBe(id)
  })
})
