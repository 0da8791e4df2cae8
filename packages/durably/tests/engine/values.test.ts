// What a step returns first is exactly what a replay returns (DESIGN §3); the rest of the table of research/reliability.md §10.1.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()

/** The same value by way of a step's first execution, its replay, the stored step, the run's output and a run's payload. */
async function journey(world: WorldName, make: () => unknown) {
  const { durably, soon } = await setup(world)
  const seen: unknown[] = []
  const job = durably.defineJob({ name: 'journey', input: anything }, async (ctx, payload) => {
    seen.push(payload, await ctx.run('value', make))
    if (seen.length < 4) throw new Error('replay it')
    return seen.at(-1)
  })
  const { id, payload } = await job.trigger(make())
  await soon(durably.processUntilIdle())
  await durably.retry(id)
  await soon(durably.processUntilIdle())
  const run = await job.getRun(id)
  const [step] = await durably.getSteps(id)
  expect(run).toMatchObject({ status: 'completed' })
  return [...seen, payload, run?.payload, run?.output, step?.output]
}

const VALUES: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  'plain JSON': () => ({ a: [1, 'two', true, null, { b: {} }], 'key with "quotes"': [] }),
  'undefined inside an object and an array': () => ({ a: undefined, b: [undefined, 1] }),
  'a Date, and one that is invalid': () => [new Date(1_700_000_000_123), new Date(Number.NaN)],
  'a Map with object keys': () => new Map<unknown, unknown>([[{ k: 1 }, new Set([1, 2])]]),
  'a Set': () => new Set(['a', 1, null]),
  'a BigInt': () => 12345678901234567890n,
  'a Uint8Array': () => Uint8Array.from({ length: 300 }, (_, i) => i % 256),
  'NaN, the infinities and −0': () => [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0],
  'the limits of numbers': () => [Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 0.1 + 0.2, 1e308],
  'an object that looks like one of our tags': () => ({ $durably: 'Date', value: 'not a date' }),
  'NUL and lone surrogates in a text': () => ({ 'nul\0key': 'a\0b', lone: '\ud800 and \udfff' }),
  'emoji and right-to-left text': () => '👩‍👩‍👧‍👦 مرحبا \u202e reversed',
  'an object without a prototype': () => Object.assign(Object.create(null), { a: 1 }),
  'a text of a megabyte': () => 'é'.repeat(500_000),
}

describe.each(WORLDS)('values on %s', (world) => {
  test.each(Object.entries(VALUES))('%s survives: first execution, replay, payload and output are equal', async (_, make) => {
    const expected = make()
    for (const value of await journey(world, make)) expect(value).toEqual(expected)
  })

  test('−0 and NaN are distinguished from 0 and null on a replay', async () => {
    for (const value of await journey(world, () => [-0, Number.NaN])) {
      const [zero, nan] = value as number[]
      expect(Object.is(zero, -0)).toBe(true)
      expect(nan).toBeNaN()
    }
  })

  test('`__proto__` and `constructor` are keys like any other, and pollute nothing', async () => {
    const hostile = () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as object
    for (const value of await journey(world, hostile)) {
      expect(Object.keys(value as object).toSorted()).toEqual(['__proto__', 'constructor'])
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('a step sees the recorded copy from the start: changing the original changes nothing', async () => {
    const { durably, soon } = await setup(world)
    const original = { list: [1] }
    const job = durably.defineJob({ name: 'copy', input: anything }, async (ctx) => {
      const value = await ctx.run('value', () => original)
      original.list.push(2)
      return { same: value === original, value }
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ output: { same: false, value: { list: [1] } } })
  })
})

class Account {
  balance = 1
}

function cycle(): unknown {
  const value: { self?: unknown } = {}
  value.self = { inner: [value] }
  return value
}

const UNSTORABLE: Record<string, [() => unknown, path: string]> = {
  'a function': [() => ({ list: [() => {}] }), '.list[0]'],
  'a symbol': [() => ({ key: Symbol('s') }), '.key'],
  'a cycle': [cycle, '.self.inner[0]'],
  'a class instance': [() => ({ account: new Account() }), '.account'],
  'a promise': [() => ({ later: Promise.resolve(1) }), '.later'],
  'a regular expression': [() => [/x/], '[0]'],
}

describe.each(WORLDS)('values that cannot be stored on %s', (world) => {
  test.each(Object.entries(UNSTORABLE))('%s fails that step, with the path named; the worker goes on', async (_, [make, path]) => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'unstorable', input: anything }, (ctx) => ctx.run('bad', make))
    const fine = durably.defineJob({ name: 'fine', input: anything }, async () => 1)
    const { id } = await job.trigger(null)
    const other = await fine.trigger(null)
    await soon(durably.processUntilIdle())

    const run = await job.getRun(id)
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'value_not_serializable' } })
    expect(run?.error).toContain(`step "bad"${path}`)
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'bad', status: 'failed' }])
    expect(await fine.getRun(other.id)).toMatchObject({ status: 'completed' })
  })

  test('an output that cannot be stored fails the run, an input is refused at trigger', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'bad', input: anything }, async (): Promise<unknown> => () => {})
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'value_not_serializable' } })
    await expect(job.trigger({ f: () => {} })).rejects.toMatchObject({
      code: 'value_not_serializable',
      message: expect.stringContaining('.f'),
    })
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('a value over the limit fails that step, not the worker, and the message names the limit', async () => {
    const { durably, soon } = await setup(world, { maxValueBytes: 1000 })
    const job = durably.defineJob({ name: 'large', input: anything }, async (ctx) => {
      await ctx.run('fits', () => 'é'.repeat(499))
      return ctx.run('large', () => 'é'.repeat(500))
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const run = await job.getRun(id)
    expect(run).toMatchObject({ status: 'failed', currentStepIndex: 1, failure: { code: 'value_too_large' } })
    expect(run?.error).toMatch(/1002 bytes.*1000.*maxValueBytes/)
    await expect(job.trigger('x'.repeat(1000))).rejects.toMatchObject({ code: 'value_too_large' })
  })

  test('eleven megabytes fail the step by the default limit of 10 MiB; nine are stored', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob(
      { name: 'large', input: z.number() },
      async (ctx, mb) => (await ctx.run('large', () => 'x'.repeat(mb * 1024 * 1024))).length,
    )
    const eleven = await job.trigger(11)
    const nine = await job.trigger(9)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(eleven.id)).toMatchObject({ status: 'failed', failure: { code: 'value_too_large' } })
    expect(await job.getRun(nine.id)).toMatchObject({ status: 'completed', output: 9 * 1024 * 1024 })
  })
})
