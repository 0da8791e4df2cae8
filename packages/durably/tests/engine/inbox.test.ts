// Events: what is sent becomes runs of the jobs that subscribe to it, once, whoever delivers it.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { On } from '../../src/model/subscription.ts'
import { faulty } from './faulty-store.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const REJECTED = new DurablyError('store_rejected', 'it cannot be stored')
const DAY = 24 * 60 * 60 * 1000
const user = z.object({ id: z.string(), plan: z.string().default('free') })

function subscribe(durably: Durably, on: On, name = 'welcome', got: unknown[] = []): unknown[] {
  durably.defineJob({ name, input: user, on }, async (_, payload) => {
    got.push(payload)
    return payload
  })
  return got
}

describe.each(WORLDS)('events on %s', (world) => {
  test('an event becomes a run of each job that subscribes, with its data as the input', async () => {
    const { durably, env } = await setup(world)
    const welcomed = subscribe(durably, 'user.created')
    const mailed = subscribe(durably, ['user.created', 'user.updated'], 'mail')
    const others = subscribe(durably, 'user.deleted', 'clean up')
    durably.start()
    await env.advance(1)
    const sent = await durably.send('user.created', { id: 'u1' })
    expect(sent).toEqual({ id: expect.any(String), isNew: true })
    await env.advance(1)
    expect([welcomed, mailed, others]).toEqual([[{ id: 'u1', plan: 'free' }], [{ id: 'u1', plan: 'free' }], []])
    const runs = await durably.getRuns({ idempotencyKey: `event:${sent.id}` })
    expect(runs.map(({ jobName, status }) => [jobName, status]).sort()).toEqual([
      ['mail', 'completed'],
      ['welcome', 'completed'],
    ])
  })

  test('an event that is sent at once after the start is not too early', async () => {
    const { durably, env } = await setup(world)
    const got = subscribe(durably, 'user.created')
    durably.start()
    await durably.send('user.created', { id: 'u1' })
    await env.advance(1)
    expect(got).toHaveLength(1)
  })

  test('processUntilIdle delivers, without start', async () => {
    const { durably, soon } = await setup(world)
    const got = subscribe(durably, 'user.created')
    await soon(durably.send('user.created', { id: 'u1' }))
    expect(await soon(durably.processUntilIdle())).toBe(1)
    expect(got).toEqual([{ id: 'u1', plan: 'free' }])
  })

  test.each([
    [{ plan: 'pro' }, { id: 'a', plan: 'pro' }, true],
    [{ plan: 'pro' }, { id: 'a', plan: 'free' }, false],
    [{ plan: 'pro' }, { id: 'a' }, false],
    [{ address: { country: 'DE' } }, { id: 'a', address: { country: 'DE', city: 'Bonn' } }, true],
    [{ address: { country: 'DE' } }, { id: 'a', address: null }, false],
    [{ address: {} }, { id: 'a', address: { city: 'Bonn' } }, true],
    [{ age: 3, admin: false, team: null }, { id: 'a', age: 3, admin: false, team: null }, true],
    [{ team: null }, { id: 'a' }, false],
    [{ age: 3 }, { id: 'a', age: '3' }, false],
    [{ constructor: {} }, { id: 'a' }, false],
    [{}, { id: 'a' }, true],
  ])('the filter %j lets %j through: %j', async (filter, data, passes) => {
    const { durably, soon } = await setup(world)
    const got = subscribe(durably, { event: 'user', filter })
    await soon(durably.send('user', data))
    await soon(durably.processUntilIdle())
    expect(got).toHaveLength(passes ? 1 : 0)
  })

  test('several subscriptions of a job that match make one run', async () => {
    const { durably, soon } = await setup(world)
    const got = subscribe(durably, ['user', { event: 'user', filter: { id: 'a' } }])
    await soon(durably.send('user', { id: 'a' }))
    await soon(durably.processUntilIdle())
    expect(got).toHaveLength(1)
  })

  test('a second event with a dedupeKey is not stored for seven days after the first was delivered', async () => {
    const { durably, env } = await setup(world)
    const got = subscribe(durably, 'user')
    durably.start()
    const first = await durably.send('user', { id: 'a' }, { dedupeKey: 'k' })
    expect(await durably.send('user', { id: 'b' }, { dedupeKey: 'k' })).toEqual({ id: first.id, isNew: false })
    await env.advance(1000)
    expect(await durably.send('other', 1, { dedupeKey: 'k' })).toEqual({ id: first.id, isNew: false })
    await env.advance(7 * DAY)
    expect(await durably.send('user', { id: 'c' }, { dedupeKey: 'k' })).toMatchObject({ isNew: true })
    await env.advance(1)
    expect(got).toMatchObject([{ id: 'a' }, { id: 'c' }])
  })

  test('a process without the job delivers, and a process with the job executes', async () => {
    const { durably, another, env, soon } = await setup(world)
    const got = subscribe(another(), 'user')
    const executes = another()
    subscribe(executes, 'user', 'welcome', got)
    await soon(executes.processUntilIdle())
    durably.start()
    await env.advance(1)
    await durably.send('user', { id: 'a' })
    // A worker without a free slot looks less often.
    await env.advance(5000)
    expect(await durably.getRuns()).toMatchObject([{ jobName: 'welcome', status: 'pending', payload: { id: 'a' } }])
    await soon(executes.processUntilIdle())
    expect(got).toEqual([{ id: 'a', plan: 'free' }])
  })

  test('data that does not match the input of the job fails its run with invalid_input, and it is not tried again', async () => {
    const { durably, soon } = await setup(world)
    let tried = 0
    const retry = () => {
      tried++
      return 0
    }
    durably.defineJob({ name: 'welcome', input: user, on: 'user', retry }, async () => {})
    const got = subscribe(durably, 'user', 'b')
    await soon(durably.send('user', { id: 1 }))
    await soon(durably.send('user', { id: 'good' }))
    await soon(durably.processUntilIdle())
    const [failed] = await durably.getRuns({ jobName: 'welcome', status: 'failed' })
    expect(failed).toMatchObject({ reason: 'invalid_input', failure: { code: 'invalid_input' }, error: expect.stringContaining('id: ') })
    expect(tried).toBe(0)
    expect(got).toMatchObject([{ id: 'good' }])
  })

  test('a run that a job throws invalid_input in fails with reason error', async () => {
    const { durably, soon } = await setup(world)
    const other = durably.defineJob({ name: 'other', input: user }, async () => {})
    durably.defineJob({ name: 'parent', input: z.unknown(), on: 'go' }, async () => void (await other.trigger({ id: 1 as never })))
    await soon(durably.send('go', null))
    await soon(durably.processUntilIdle())
    expect(await durably.getRuns({ jobName: 'parent' })).toMatchObject([{ reason: 'error', failure: { code: 'invalid_input' } }])
  })

  test('subscriptions are kept until they are changed: by another `on`, an empty list, or a job without one beside others', async () => {
    const { durably, another, soon, within } = await setup(world)
    const start = async (on: On | undefined) => {
      const instance = another()
      instance.defineJob({ name: 'welcome', input: user, ...(on !== undefined && { on }) }, async () => {})
      instance.defineJob({ name: 'other', input: user, on: 'other' }, async () => {})
      await within(5000, instance.processUntilIdle())
    }
    const jobsFor = async (name: string) => {
      const { id } = await soon(durably.send(name, { id: 'a' }))
      await soon(durably.processUntilIdle())
      return (await durably.getRuns({ idempotencyKey: `event:${id}` })).map(({ jobName }) => jobName)
    }
    await start('a')
    expect([await jobsFor('a'), await jobsFor('b')]).toEqual([['welcome'], []])
    await start('b')
    expect([await jobsFor('a'), await jobsFor('b')]).toEqual([[], ['welcome']])
    await start([])
    expect([await jobsFor('a'), await jobsFor('b'), await jobsFor('other')]).toEqual([[], [], ['other']])
    await start('a')
    await start(undefined)
    expect(await jobsFor('a')).toEqual([])
  })

  test('an event of a transaction exists if and when it commits', async () => {
    if (world === 'memory') return
    const { durably, soon } = await setup(world)
    const got = subscribe(durably, 'user')
    durably.defineJob({ name: 'sender', input: z.boolean() }, (ctx, fails) =>
      ctx.transaction('write', async (tx) => {
        await durably.send('user', { id: 'a' }, { tx })
        if (fails) throw new Error('on purpose')
      }),
    )
    const sender = durably.jobs.get('sender')
    await sender?.trigger(true)
    await soon(durably.processUntilIdle())
    expect(got).toEqual([])
    await sender?.trigger(false)
    await soon(durably.processUntilIdle())
    expect(got).toHaveLength(1)
  })

  test('inside a transaction, only what has its tx is sent', async () => {
    if (world === 'memory') return
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'sender', input: z.null() }, (ctx) =>
      ctx.transaction('write', async () => void (await durably.send('user', 1))),
    )
    const run = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(run.id)).toMatchObject({ failure: { code: 'transaction_open' } })
  })

  test('a program whose jobs subscribe to nothing sends no statement more, nor does one that has said so before', async () => {
    const { faults, wrap } = faulty()
    const { durably, another, env, soon } = await setup(world, { wrap })
    durably.defineJob({ name: 'welcome', input: user }, async () => {})
    durably.start()
    await env.advance(5000)
    expect(faults.calls.filter((name) => name.startsWith('cluster.'))).toEqual([])
    await soon(durably.stop())
    for (const calls of [['cluster.findDefinitions', 'cluster.putDefinitions'], ['cluster.findDefinitions']]) {
      faults.calls.length = 0
      const again = another({ wrap })
      subscribe(again, 'user')
      again.start()
      await env.advance(5000)
      expect(faults.calls.filter((name) => name.startsWith('cluster.'))).toEqual(calls)
      await soon(again.stop())
    }
  })

  test.each(['before', 'after'] as const)('a delivery that fails %s it takes effect makes one run', async (when) => {
    const { faults, wrap } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const got = subscribe(durably, 'user')
    durably.start()
    await env.advance(1)
    faults.fail('cluster.deliverEvent', { when })
    await durably.send('user', { id: 'a' })
    await env.advance(5000)
    expect(got).toHaveLength(1)
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('definitions that could not be stored are stored later', async () => {
    const { faults, wrap } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const errors = listenTo(durably)
    const got = subscribe(durably, 'user')
    faults.fail('cluster.putDefinitions', { when: 'before' })
    durably.start()
    await env.advance(5000)
    expect(ofType(errors, 'worker:error')).toHaveLength(1)
    await durably.send('user', { id: 'a' })
    await env.advance(1)
    expect(got).toHaveLength(1)
  })

  test('definitions that the database rejects do not keep the worker from its runs, and are stored when it takes them', async () => {
    const { faults, wrap } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const errors = listenTo(durably)
    const got = subscribe(durably, 'user')
    const job = durably.defineJob({ name: 'job', input: z.unknown() }, async () => {})
    const { id } = await job.trigger(null)
    faults.fail('cluster.putDefinitions', { when: 'before', times: Number.POSITIVE_INFINITY, error: REJECTED })
    durably.start()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(ofType(errors, 'worker:error').length, 'about once a second').toBeLessThanOrEqual(6)
    expect(ofType(errors, 'worker:error').length).toBeGreaterThanOrEqual(2)
    await expect(durably.send('user', { id: 'a' })).rejects.toMatchObject({ code: 'store_rejected' })
    faults.heal()
    await env.advance(2000)
    await durably.send('user', { id: 'b' })
    await env.advance(1)
    expect(got).toEqual([{ id: 'b', plan: 'free' }])
  })

  test('an event whose delivery the database rejects holds up neither other events nor the runs of the worker', async () => {
    const { faults, wrap } = faulty()
    const { durably, env } = await setup(world, { wrap })
    const errors = listenTo(durably)
    const got = subscribe(durably, 'user')
    durably.start()
    await env.advance(1)
    const only = (asked: unknown) => (asked as { eventId: string }).eventId === bad.id
    faults.fail('cluster.deliverEvent', { when: 'before', times: Number.POSITIVE_INFINITY, error: REJECTED, only })
    const bad = await durably.send('user', { id: 'bad' })
    await durably.send('user', { id: 'good' })
    await env.advance(1000)
    expect(got).toEqual([{ id: 'good', plan: 'free' }])
    expect(ofType(errors, 'worker:error')[0]).toMatchObject({
      error: `event ${bad.id} cannot be delivered: it cannot be stored`,
      cause: { code: 'store_rejected' },
    })
    faults.heal()
    await env.advance(1000)
    expect(got).toHaveLength(2)
  })

  test('a subscription that cannot be read harms only its own job', async () => {
    const { durably, store, env } = await setup(world)
    const errors = listenTo(durably)
    const got = subscribe(durably, 'user')
    durably.start()
    await env.advance(1)
    await store.cluster?.putDefinitions([{ name: 'broken', input: null, subscriptions: '{' }])
    await durably.send('user', { id: 'a' })
    await env.advance(1)
    expect(got).toHaveLength(1)
    expect(ofType(errors, 'worker:error')).toMatchObject([{ cause: { code: 'row_unreadable' } }])
  })

  test('more events than a page are all delivered, in their order', async () => {
    const { durably, env } = await setup(world)
    const got = subscribe(durably, 'user')
    durably.start()
    for (let i = 0; i < 45; i++) await durably.send('user', { id: `${i}` })
    await env.advance(1000)
    expect(got).toEqual(Array.from({ length: 45 }, (_, i) => ({ id: `${i}`, plan: 'free' })))
  })

  test('bad input is refused, and says why', async () => {
    const { durably } = await setup(world)
    await expect(durably.send('', 1)).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.send('a'.repeat(513), 1)).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.send('a', () => {})).rejects.toMatchObject({ code: 'value_not_serializable' })
    await expect(durably.send('a', 1, { dedupeKey: '' })).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.send('a', 1, { key: 'k' } as never)).rejects.toMatchObject({ code: 'invalid_argument' })
    for (const on of ['', { event: '' }, [{ event: 1 }], 7, null])
      expect(() => subscribe(durably, on as never)).toThrow(expect.objectContaining({ code: 'invalid_name' }))
    for (const on of [
      { event: 'a', filter: [1] },
      { event: 'a', filter: { b: undefined } },
      { event: 'a', filters: {} },
      { event: 'a', filter: 1 },
    ])
      expect(() => subscribe(durably, on as never)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})
