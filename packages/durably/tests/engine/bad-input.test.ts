// What a caller can get wrong: each a DurablyError with a stable code and one helpful sentence.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

const BAD_NAMES: Record<string, [name: unknown, message: RegExp]> = {
  'with NUL': ['a\0b', /NUL/],
  'with a lone surrogate': ['a\ud800', /lone surrogate/],
  'of more than 512 bytes': ['é'.repeat(257), /at most 512 bytes.*got 514/],
  'that is empty': ['', /must not be empty/],
  'that is no text': [42, /must be a string, got number/],
}

describe.each(WORLDS)('names and keys on %s', (world) => {
  test.each(Object.entries(BAD_NAMES))('a job name, a key or a step name %s is refused', async (_, [name, message]) => {
    const { durably, soon } = await setup(world)
    const refusal = { code: 'invalid_name', message: expect.stringMatching(message) }
    expect(() => durably.defineJob({ name: name as string, input: anything }, async () => {})).toThrow(expect.objectContaining(refusal))
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run(name as string, () => 1))
    await expect(job.trigger(null, { idempotencyKey: name as string })).rejects.toMatchObject(refusal)
    await expect(job.trigger(null, { concurrencyKey: name as string })).rejects.toMatchObject(refusal)
    expect(await durably.getRuns()).toEqual([])
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'failed', failure: refusal })
    expect(await durably.getSteps(id)).toEqual([])
  })

  test('512 bytes, emoji and right-to-left text are fine, and names that differ in one bit are different', async () => {
    const { durably, soon } = await setup(world)
    const long = `${'😀'.repeat(127)}abc`
    const job = durably.defineJob({ name: `${long}d`, input: anything }, (ctx) =>
      Promise.all(
        ['مرحبا', 'a ', 'a', 'A', "'; DROP TABLE runs; --", '%', '__proto__', 'constructor'].map((name) => ctx.run(name, () => name)),
      ),
    )
    const one = await job.trigger(null, { idempotencyKey: `${long}x` })
    const two = await job.trigger(null, { idempotencyKey: `${long}y` })
    expect(one.id).not.toBe(two.id)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(one.id)).toMatchObject({ status: 'completed', currentStepIndex: 8 })
    expect((await durably.getSteps(one.id)).map(({ name, output }) => name === output)).not.toContain(false)
  })

  test('a job is defined once per instance', async () => {
    const { durably } = await setup(world)
    durably.defineJob({ name: 'job', input: anything }, async () => {})
    expect(() => durably.defineJob({ name: 'job', input: anything }, async () => {})).toThrow(
      expect.objectContaining({
        code: 'duplicate_job',
        message: expect.stringMatching(/^job "job" is already defined.*; define each job once/),
      }),
    )
  })

  test('a step without a function, a filter, a limit or a cursor that is none is refused', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', 'not a function' as never))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_argument', message: 'step "step" needs a function as its last argument' },
    })
    const filters = [{ status: 'done' as never }, { limit: 0 }, { limit: 1.5 }, { limit: -1 }, { limit: Number.NaN }, { cursor: 'x' }]
    for (const filter of filters) await expect(durably.getRuns(filter)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('a definition without a schema or without a function is refused when it is made, not when it runs', async () => {
    const { durably } = await setup(world)
    const refusal = expect.objectContaining({ code: 'invalid_argument' })
    expect(() => durably.defineJob({ name: 'job', input: undefined as never }, async () => {})).toThrow(refusal)
    expect(() => durably.defineJob({ name: 'job', input: { type: 'object' } as never }, async () => {})).toThrow(refusal)
    expect(() => durably.defineJob({ name: 'job', input: anything, output: {} as never }, async () => ({}) as never)).toThrow(refusal)
    expect(() => durably.defineJob({ name: 'job', input: anything }, undefined as never)).toThrow(refusal)
  })
})

const BAD_OPTIONS: Record<string, [options: Partial<DurablyOptions>, message: RegExp]> = {
  'a negative pollingInterval': [{ pollingInterval: -1 }, /pollingInterval must be a whole number of milliseconds from 1 to/],
  'a staleThreshold of half a millisecond': [{ staleThreshold: 1000.5 }, /staleThreshold must be a whole number of milliseconds/],
  'a pollingInterval of zero': [{ pollingInterval: 0 }, /pollingInterval/],
  'an endless pollingInterval': [{ pollingInterval: Number.POSITIVE_INFINITY }, /pollingInterval/],
  'a heartbeatInterval that is NaN': [{ heartbeatInterval: Number.NaN }, /heartbeatInterval/],
  'a staleThreshold that is a text': [{ staleThreshold: '30' as never }, /staleThreshold/],
  'a heartbeat slower than half of the threshold': [
    { heartbeatInterval: 5000, staleThreshold: 9000 },
    /^heartbeatInterval \(5000 ms\) must be at most half of staleThreshold \(9000 ms\): one late heartbeat/,
  ],
  'a heartbeat slower than the longest threshold': [{ heartbeatInterval: 13 * 60 * 60 * 1000 }, /at most half of staleThreshold/],
  'an event log beside a store': [{ eventLog: false }, /option of the store that you made, e.g. memoryStore\({ eventLog: false }\)/],
  'no concurrency': [{ concurrency: 0 }, /concurrency must be a whole number of at least 1/],
  'half a slot': [{ concurrency: 1.5 }, /concurrency/],
  'negative maxRecoveries': [{ maxRecoveries: -1 }, /maxRecoveries/],
  'no room for values': [{ maxValueBytes: 0 }, /maxValueBytes/],
}

describe('options', () => {
  test.each(Object.entries(BAD_OPTIONS))('%s is refused with the name of the option', (_, [options, message]) => {
    expect(() => createDurably({ store: memoryStore(), ...options })).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(message) }),
    )
  })

  test('neither or both of dialect and store is refused with an example', () => {
    const refusal = expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining('sqlite("app.db")') })
    expect(() => createDurably({})).toThrow(refusal)
    expect(() => createDurably({ store: memoryStore(), dialect: sqlite(':memory:') })).toThrow(refusal)
  })

  test('the seed’s four options are accepted as they are, and three have defaults (000 §設定項目)', () => {
    createDurably({ dialect: sqlite(':memory:') })
    createDurably({ dialect: sqlite(':memory:'), pollingInterval: 1000, heartbeatInterval: 5000, staleThreshold: 30_000 })
  })

  test('a table prefix that is no name, a path that is none and an unknown durability are refused', () => {
    const refusal = expect.objectContaining({ code: 'invalid_config' })
    expect(() => createDurably({ dialect: sqlite(':memory:'), tablePrefix: 'a; drop' })).toThrow(refusal)
    expect(() => sqlite('')).toThrow(refusal)
    expect(() => sqlite('x.db', { durability: 'maybe' as never })).toThrow(refusal)
  })

  test('`db` of an instance on a store says that there is none', () => {
    expect(() => createDurably({ store: memoryStore() }).db).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message: expect.stringContaining('given a store, not a dialect: it has no Kysely'),
      }),
    )
  })
})
