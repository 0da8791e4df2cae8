// `holdKey`: a run keeps its concurrency key from its first start until it has ended.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { retry } from '../../src/index.ts'
import type { JobContext } from '../../src/model/job.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const MINUTE = 60_000
const HOLDS = { concurrencyKey: 'session 1', holdKey: true }

/** Ways in which a run stops executing before it has ended; each lasts until a minute is over, or the signal comes. */
const PAUSES: [string, (ctx: JobContext) => Promise<unknown>][] = [
  ['a sleep', (ctx) => ctx.sleep('nap', MINUTE)],
  ['a wait', (ctx) => ctx.waitFor('answer', { timeout: MINUTE }).catch(() => null)],
  [
    'a step that is tried again',
    (ctx) =>
      ctx.run('call', { retry: retry.fixed({ maxAttempts: 2, delay: MINUTE }) }, ({ attempt }) => {
        if (attempt === 1) throw new Error('busy')
      }),
  ],
]

describe.each(WORLDS)('holdKey on %s', (world) => {
  test.each(PAUSES)('during %s no other run of the key starts', async (_, pause) => {
    const { durably, env, soon } = await setup(world, { concurrency: 3 })
    const begun: string[] = []
    const job = durably.defineJob({ name: 'chat', input: z.string() }, async (ctx, label) => {
      await ctx.run('begin', () => void begun.push(label))
      if (label === 'first') await pause(ctx)
      await ctx.run('end', () => void begun.push(`${label} ends`))
    })
    const first = await soon(job.trigger('first', HOLDS))
    const second = await soon(job.trigger('second', HOLDS))
    const third = await soon(job.trigger('third', { concurrencyKey: 'session 1' }))
    const free = await soon(job.trigger('free', { concurrencyKey: 'session 2' }))
    durably.start()
    await env.advance(MINUTE / 2)
    expect(begun.sort()).toEqual(['first', 'free', 'free ends'])
    expect(await soon(durably.getRun(first.id))).not.toHaveProperty('waitingFor.kind', 'key')
    expect(await soon(durably.getRun(second.id))).toHaveProperty('waitingFor', { kind: 'key', heldBy: first.id })
    expect((await soon(durably.getRun(free.id)))?.status).toBe('completed')
    begun.length = 0
    await env.advance(MINUTE)
    expect(begun).toEqual(['first ends', 'second', 'second ends', 'third', 'third ends'])
    expect((await soon(durably.getRun(third.id)))?.status).toBe('completed')
  })

  test('without holdKey a run that sleeps lets the next one of its key start', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 3 })
    const job = durably.defineJob({ name: 'chat', input: z.string() }, (ctx, label) =>
      label === 'first' ? ctx.sleep('nap', MINUTE) : ctx.run('work', () => null),
    )
    await soon(job.trigger('first', { concurrencyKey: 'k', holdKey: false }))
    const second = await soon(job.trigger('second', { concurrencyKey: 'k' }))
    durably.start()
    await env.advance(1000)
    expect((await soon(durably.getRun(second.id)))?.status).toBe('completed')
  })

  test('an attempt that failed keeps the key for the next one', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 3 })
    const begun: string[] = []
    const policy = retry.fixed({ maxAttempts: 2, delay: MINUTE })
    const job = durably.defineJob({ name: 'chat', input: z.string(), retry: policy }, (_, label) => {
      begun.push(label)
      if (begun.length === 1) throw new Error('busy')
    })
    await soon(job.trigger('first', HOLDS))
    await soon(job.trigger('second', HOLDS))
    durably.start()
    await env.advance(MINUTE / 2)
    expect(begun).toEqual(['first'])
    await env.advance(MINUTE)
    expect(begun).toEqual(['first', 'first', 'second'])
  })

  test('explain names the run that holds the key, and what that one waits for', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'chat', input: z.null() }, (ctx) => ctx.waitFor('answer'))
    const first = await soon(job.trigger(null, HOLDS))
    const second = await soon(job.trigger(null, HOLDS))
    durably.start()
    await env.advance(1000)
    const { chain, text, remedy } = await soon(durably.explain(second.id))
    expect(chain.map(({ runId, cause }) => [runId, cause])).toEqual([
      [second.id, 'key'],
      [first.id, 'signal'],
    ])
    expect(remedy).toEqual({ do: 'signal', runId: first.id, name: 'answer' })
    expect(text).toContain(`waits for its concurrency key "session 1", held by run ${first.id}`)
    await soon(durably.stop())
    await soon(durably.signal(first.id, 'answer', 'yes'))
    const due = await soon(durably.explain(first.id))
    expect(due.chain.map(({ runId, cause }) => [runId, cause])).toEqual([[first.id, 'worker']])
  })

  test('a run that is cancelled while it waits lets the next one start at once', async () => {
    const { durably, env, soon } = await setup(world, { pollingInterval: 10 * MINUTE })
    const started = gate()
    const job = durably.defineJob({ name: 'chat', input: z.string() }, async (ctx, label) => {
      if (label === 'second') return started.open()
      await ctx.waitFor('answer')
    })
    const first = await soon(job.trigger('first', HOLDS))
    await soon(job.trigger('second', HOLDS))
    durably.start()
    await env.advance(1000)
    await soon(durably.cancel(first.id))
    await soon(started.opened)
  })

  test('a failed run that is retried waits behind the one that holds the key now', async () => {
    const { durably, env, soon } = await setup(world, { concurrency: 2 })
    let fails = true
    const job = durably.defineJob({ name: 'chat', input: z.string() }, async (ctx, label) => {
      if (label === 'first' && fails) throw new Error('broken')
      await ctx.sleep('nap', MINUTE)
    })
    const first = await soon(job.trigger('first', HOLDS))
    const second = await soon(job.trigger('second', HOLDS))
    durably.start()
    await env.advance(1000)
    fails = false
    await soon(durably.retry(first.id))
    await env.advance(1000)
    expect(await soon(durably.getRun(first.id))).toMatchObject({ status: 'pending', waitingFor: { kind: 'key', heldBy: second.id } })
    await env.advance(3 * MINUTE)
    expect((await soon(durably.getRun(first.id)))?.status).toBe('completed')
  })

  test('a run cannot wait for a child with the key that it holds', async () => {
    const { durably, soon } = await setup(world)
    const child = durably.defineJob({ name: 'child', input: z.null() }, () => 1)
    const parent = durably.defineJob({ name: 'parent', input: z.string().optional() }, async (ctx, key) => {
      await ctx.invoke(child, null, key === undefined ? {} : { concurrencyKey: key })
    })
    const refused = await soon(parent.trigger('session 1', HOLDS))
    await soon(durably.processUntilIdle())
    const failed = await soon(durably.getRun(refused.id))
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'invalid_argument' } })
    expect(failed?.error).toContain('ctx.invoke cannot wait for a run with concurrencyKey "session 1"')
    const other = await soon(parent.trigger('session 2', HOLDS))
    await soon(durably.processUntilIdle())
    expect((await soon(durably.getRun(other.id)))?.status).toBe('completed')
  })
})

test.each([
  [{ holdKey: true }, 'holdKey needs a concurrencyKey, the key that the run shall hold; give one, or leave holdKey out'],
  [{ holdKey: 'yes', concurrencyKey: 'k' }, 'holdKey must be true or false, got string'],
  [{ holdKey: null, concurrencyKey: 'k' }, 'holdKey must be true or false, got null'],
])('%j is refused', async (options, message) => {
  const { durably, soon } = await setup('memory')
  const job = durably.defineJob({ name: 'chat', input: z.null() }, () => null)
  await expect(soon(job.trigger(null, options as never))).rejects.toMatchObject({ code: 'invalid_argument', message })
  await expect(soon(job.batchTrigger([{ payload: null }, { payload: null, options: options as never }]))).rejects.toThrow(message)
  expect(await soon(durably.getRuns())).toEqual([])
})
