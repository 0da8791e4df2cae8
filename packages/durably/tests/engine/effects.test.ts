// effect: 'once' — a start is recorded before the function is called; who finds a start without a record asks.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { sleep } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { StepOptions } from '../../src/model/job.ts'
import { retry } from '../../src/model/retry-policy.ts'
import type { Store } from '../../src/store/store.ts'
import type { StepWrapper } from '../../src/worker/steps/step-wrapper.ts'
import { type Faults, faulty } from './faulty-store.ts'
import { freezable } from './freezable-env.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()
const ONCE = { effect: 'once' } as const

function defineCharge(durably: Durably, charge: (key: string) => unknown, options: StepOptions = ONCE) {
  return durably.defineJob({ name: 'job', input: anything }, (ctx) =>
    ctx.run('charge', options, ({ idempotencyKey }) => charge(idempotencyKey)),
  )
}

/** The first heartbeat, which stores the start, takes effect at once; its answer comes later. */
function withSlowStart(store: Store, later: Promise<void>): Store {
  let isFirst = true
  const apply: Store['runs']['apply'] = async (writes) => {
    const answer = await store.runs.apply(writes)
    const isHeld = isFirst && writes[0]?.verb.type === 'heartbeat'
    if (isHeld) isFirst = false
    if (isHeld) await later
    return answer
  }
  return { ...store, runs: { ...store.runs, apply } }
}

/** Refuses to store the result of one step, as a database may refuse a value. */
function rejecting(store: Store, stepName: string): Store {
  const apply: Store['runs']['apply'] = async (writes) => {
    const isRefused = writes.some(
      ({ verb }) => verb.type === 'recordStep' && verb.step.name === stepName && verb.step.status === 'completed',
    )
    if (isRefused) throw new DurablyError('store_rejected', 'it cannot be stored')
    return store.runs.apply(writes)
  }
  return { ...store, runs: { ...store.runs, apply } }
}

/** A world in which the worker was killed while the effect was at work. */
async function killedInside(world: WorldName, options: StepOptions = ONCE) {
  const mortal = faulty()
  const built = await setup(world, { wrap: mortal.wrap })
  const charges: string[] = []
  const job = defineCharge(
    built.durably,
    (key) => {
      charges.push(key)
      return new Promise(() => {})
    },
    options,
  )
  const { id } = await job.trigger(null)
  built.durably.start()
  await built.env.advance(1000)
  mortal.faults.die()
  const heir = built.another()
  return { ...built, id, charges, heir }
}

describe.each(WORLDS)('effects on %s', (world) => {
  test.each<[string, StepWrapper]>([
    ['does not wait for it', async (_, next) => Promise.race([next(), Promise.reject(new Error('too slow'))])],
    [
      'throws after it',
      async (_, next) => {
        await next()
        throw new Error('the plugin broke')
      },
    ],
  ])('a plugin that %s does not make it run again: it may have taken place', async (_, wrapper) => {
    const { durably, env } = await setup(world)
    durably.use({ name: 'around', install: (host) => host.wrapStep(wrapper) })
    const slow = gate()
    let charges = 0
    const charge = async () => {
      charges++
      if (charges === 1) return 'charged'
      await slow.opened
    }
    const job = defineCharge(durably, charge, { ...ONCE, retry: retry.fixed({ maxAttempts: 3, delay: 10 }) })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(charges).toBe(1)
    await durably.decide(id, 'charge', { done: 'charged' })
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'charged' })
  })

  test.each<[string, (opened: Promise<void>) => StepWrapper, StepOptions]>([
    ['until its time is over', (opened) => async (_, next) => opened.then(next), { timeout: 50 }],
    ['and fails meanwhile', (opened) => async (_, next) => Promise.race([opened.then(next), Promise.reject(new Error('refused'))]), {}],
  ])('a plugin that holds the function back %s cannot call it later: the next attempt is the only one', async (_, wrapper, options) => {
    const { durably, env } = await setup(world)
    const late = gate()
    let attempts = 0
    const first = wrapper(late.opened)
    durably.use({ name: 'around', install: (host) => host.wrapStep((step, next) => (++attempts === 1 ? first(step, next) : next())) })
    let charges = 0
    const job = defineCharge(durably, () => ++charges, { ...ONCE, ...options, retry: retry.fixed({ maxAttempts: 2, delay: 500 }) })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    late.open()
    await env.advance(100)
    expect(charges).toBe(0)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    expect(charges).toBe(1)
  })

  test('what its function itself threw is known, whatever a plugin made of it', async () => {
    const { durably, env } = await setup(world)
    const wrapper: StepWrapper = (_, next) =>
      next().catch((cause) => {
        throw new Error('reported', { cause })
      })
    durably.use({ name: 'around', install: (host) => host.wrapStep(wrapper) })
    let charges = 0
    const charge = () => {
      if (++charges < 3) throw new Error('declined')
      return 'charged'
    }
    const job = defineCharge(durably, charge, { ...ONCE, retry: retry.fixed({ maxAttempts: 3, delay: 10 }) })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'charged' })
  })

  test('the start is stored before the function is called; the record takes it away', async () => {
    const { durably, store, soon } = await setup(world)
    let atStart: string | null | undefined
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('charge', ONCE, async () => {
        atStart = (await store.runs.get(ctx.runId))?.effects
        return 'charged'
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(JSON.parse(atStart ?? '[]')).toMatchObject([{ name: 'charge' }])
    expect(await store.runs.get(id)).toMatchObject({ status: 'completed', effects: '[]' })
  })

  test('a step without it pays no write for it', async () => {
    const count = async (options: StepOptions): Promise<Faults> => {
      const { wrap, faults } = faulty()
      const { durably, soon } = await setup(world, { wrap })
      await defineCharge(durably, () => 1, options).trigger(null)
      await soon(durably.processUntilIdle())
      return faults
    }
    const plain = await count({})
    expect([plain.count('apply.heartbeat'), plain.count('apply.recordStep'), plain.count('signals.list')]).toEqual([0, 1, 0])
    const once = await count(ONCE)
    expect([once.count('apply.heartbeat'), once.count('apply.recordStep'), once.count('signals.list')]).toEqual([1, 1, 0])
  })

  test('when the start cannot be stored the function is not called', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    faults.fail('apply.heartbeat', { when: 'before', times: 1000 })
    let calls = 0
    await defineCharge(durably, () => void calls++).trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(calls).toBe(0)
  })

  test('killed inside it, without reconcile: the run waits for a decision and the function is not called', async () => {
    const { heir, id, charges, env } = await killedInside(world)
    defineCharge(heir, () => void charges.push('twice'))
    heir.start()
    await env.advance(100_000)
    expect(charges).toHaveLength(1)
    expect(await heir.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
  })

  test.each([
    [{ done: { chargeId: 7 } }, { status: 'completed', output: { chargeId: 7 } }, 1],
    [{ done: undefined }, { status: 'completed', output: undefined }, 1],
    ['run again' as const, { status: 'completed', output: 'charged' }, 2],
    [{ failed: 'the card was refused' }, { status: 'failed', error: 'the card was refused' }, 1],
  ])('decide(%j) lets it go on', async (decision, ending, calls) => {
    const { heir, id, charges, env } = await killedInside(world)
    defineCharge(heir, (key) => {
      charges.push(key)
      return 'charged'
    })
    heir.start()
    await env.advance(40_000)
    await heir.decide(id, 'charge', decision)
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject(ending)
    expect(charges).toHaveLength(calls)
    expect(new Set(charges).size).toBe(1)
  })

  test('“run again” is good for one start: killed again, it asks again', async () => {
    const { heir, id, charges, env, another } = await killedInside(world)
    defineCharge(heir, () => void charges.push('the wrong one'))
    heir.start()
    await env.advance(40_000)
    await heir.stop()
    const second = faulty()
    const mortal = another({ wrap: second.wrap })
    defineCharge(mortal, (key) => {
      charges.push(key)
      return new Promise(() => {})
    })
    await mortal.decide(id, 'charge', 'run again')
    mortal.start()
    await env.advance(1000)
    expect(charges).toHaveLength(2)
    second.faults.die()
    const last = another()
    defineCharge(last, () => void charges.push('thrice'))
    last.start()
    await env.advance(60_000)
    expect(charges).toHaveLength(2)
    expect(await last.getRun(id)).toMatchObject({ phase: 'waiting' })
    await last.decide(id, 'charge', { done: 'known' })
    await env.advance(1000)
    expect(await last.getRun(id)).toMatchObject({ status: 'completed', output: 'known' })
  })

  test('a decision that nobody waits for is refused, so is one that is none', async () => {
    const { durably, soon, env } = await setup(world)
    const { id } = await defineCharge(durably, () => 1).trigger(null)
    await expect(durably.decide(id, 'charge', 'run again')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/step "charge" of run .* waits for no decision; only an effect in doubt/),
    })
    await expect(durably.decide(id, 'charge', 'maybe' as 'run again')).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(durably.decide('nobody', 'charge', 'run again')).rejects.toMatchObject({ code: 'run_not_found' })
    await soon(durably.processUntilIdle())
    await expect(durably.decide(id, 'charge', 'run again')).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(env.nextInMs()).toBe(null)
  })

  test.each([
    [{ done: 'found it' }, 'found it', 1],
    ['run again' as const, 'charged', 2],
  ])('reconcile answers %j, and nobody is asked', async (answer, output, calls) => {
    const { heir, id, charges, env } = await killedInside(world)
    const keys: string[] = []
    defineCharge(
      heir,
      (key) => {
        charges.push(key)
        return 'charged'
      },
      {
        ...ONCE,
        reconcile: ({ idempotencyKey }) => {
          keys.push(idempotencyKey)
          return answer
        },
      },
    )
    heir.start()
    await env.advance(40_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output })
    expect(charges).toHaveLength(calls)
    expect(keys).toEqual([charges[0]])
  })

  test('reconcile that throws, or answers nonsense, fails the run and leaves the question open', async () => {
    const { heir, id, charges, env, store } = await killedInside(world)
    let answers = 0
    defineCharge(heir, () => void charges.push('twice'), {
      ...ONCE,
      reconcile: () => {
        if (++answers === 1) throw new Error('their API is down')
        return (answers === 2 ? 'dunno' : { done: 'found' }) as { done: string }
      },
    })
    heir.start()
    await env.advance(40_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', error: 'their API is down' })
    expect((await store.runs.get(id))?.effects).toContain('charge')
    await heir.retry(id)
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'invalid_argument' } })
    await heir.retry(id)
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 'found' })
    expect(charges).toHaveLength(1)
  })

  test('its timeout limits reconcile too, and the question stays open', async () => {
    const { heir, id, charges, env, store } = await killedInside(world)
    let isAborted = false
    defineCharge(heir, () => void charges.push('twice'), {
      ...ONCE,
      timeout: '10s',
      reconcile: ({ signal }) => {
        signal.addEventListener('abort', () => {
          isAborted = true
        })
        return new Promise(() => {})
      },
    })
    heir.start()
    await env.advance('5m')
    expect(isAborted).toBe(true)
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect((await store.runs.get(id))?.effects).toContain('charge')
    expect(charges).toHaveLength(1)
  })

  test('no reconcile function starts after the deadline of its run, although the machine slept', async () => {
    const mortal = faulty()
    const { durably, env, another } = await setup(world, { wrap: mortal.wrap })
    const job = defineCharge(durably, () => new Promise(() => {}))
    const { id } = await job.trigger(null, { deadline: '10m' })
    durably.start()
    await env.advance(1000)
    mortal.faults.die()
    const heir = another()
    let asked = 0
    const reconcile = () => {
      asked++
      return 'run again' as const
    }
    heir.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await sleep(env, 100)
      // Only the time of day goes on while a machine sleeps.
      env.jump(3_600_000)
      await ctx.run('charge', { ...ONCE, reconcile }, () => 1)
    })
    heir.start()
    await env.advance(60_000)
    expect(asked).toBe(0)
    expect(await heir.getRun(id)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('one that threw is known to have failed: it is tried again by its policy', async () => {
    const { durably, env } = await setup(world)
    const keys: string[] = []
    const job = defineCharge(
      durably,
      (key) => {
        keys.push(key)
        if (keys.length < 3) throw new Error('503')
        return 'charged'
      },
      { ...ONCE, retry: retry.fixed({ maxAttempts: 3, delay: 1000 }) },
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'charged' })
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  test('one that ran out of time may still take place: it is not called again before somebody knows', async () => {
    const { durably, env } = await setup(world)
    let calls = 0
    const neverEnds = () => {
      calls++
      return new Promise(() => {})
    }
    const policy = retry.fixed({ maxAttempts: 3, delay: 1000 })
    const job = defineCharge(durably, neverEnds, { ...ONCE, timeout: 1000, retry: policy })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(calls).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
    await durably.decide(id, 'charge', { done: 'it did' })
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'it did' })
  })

  const UNSTORABLE = [
    ['cannot be encoded', 'value_not_serializable', class Receipt {}, {}],
    ['is too large', 'value_too_large', null, { maxValueBytes: 100 }],
  ] as const

  test.each(UNSTORABLE)('one whose result %s took place: no policy calls it again, somebody decides', async (_, code, Receipt, options) => {
    const { durably, env } = await setup(world, options)
    let calls = 0
    const policy = retry.fixed({ maxAttempts: 3, delay: 1000 })
    const job = durably.defineJob({ name: 'job', input: anything, retry: policy }, async (ctx) => {
      const charged = await ctx.run('charge', { ...ONCE, retry: policy }, () => {
        calls++
        return Receipt ? new Receipt() : 'x'.repeat(101)
      })
      // A write that carries the open effects of the run must not forget this one.
      await ctx.run('mail', ONCE, () => 'sent')
      return charged
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(20_000)
    expect(calls).toBe(1)
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'charge', status: 'failed', failure: { code } }])
    expect((await durably.getSteps(id))[0]?.error).toMatch(/; effect "charge" took place and is not called again: .*reconcile.*decide\(\)$/)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending', phase: 'waiting' })
    await durably.decide(id, 'charge', { done: 'receipt 7' })
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'receipt 7' })
    expect(calls).toBe(1)
  })

  test('one whose result cannot be stored fails its run without a policy; after retry() it is reconciled', async () => {
    const { durably, env } = await setup(world)
    let calls = 0
    const options: StepOptions = { ...ONCE, reconcile: () => ({ done: 'found' }) }
    const job = defineCharge(durably, () => [++calls, Symbol('no receipt')], options)
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'value_not_serializable' } })
    await durably.retry(id)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'found' })
    expect(calls).toBe(1)
  })

  test('one whose record the store rejects stays open, also when other effects come and go', async () => {
    const { durably, env, store } = await setup(world, { wrap: (store) => rejecting(store, 'charge') })
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const charged = await ctx.run('charge', ONCE, () => ++calls).catch(() => 'unknown')
      await ctx.run('mail', ONCE, () => 'sent')
      if (charged === 'unknown') throw new Error('what became of it?')
      return charged
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'what became of it?' })
    expect(JSON.parse((await store.runs.get(id))?.effects ?? '[]')).toMatchObject([{ name: 'charge' }])
    await durably.retry(id)
    await env.advance(1000)
    expect(await durably.getRun(id)).toMatchObject({ phase: 'waiting' })
    expect(calls).toBe(1)
  })

  test('a worker killed after the record asks nobody', async () => {
    const mortal = faulty()
    const { durably, another, env } = await setup(world, { wrap: mortal.wrap })
    const recorded = gate()
    let calls = 0
    const define = (instance: Durably, hangs: boolean) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        const value = await ctx.run('charge', ONCE, () => ++calls)
        recorded.open()
        if (hangs) await new Promise(() => {})
        return value
      })
    const { id } = await define(durably, true).trigger(null)
    durably.start()
    await env.advance(100)
    await recorded.opened
    mortal.faults.die()
    const heir = another()
    define(heir, false)
    heir.start()
    await env.advance(40_000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    expect(calls).toBe(1)
  })

  test('suspended between the start and the function: who wakes up too late does not call it', async () => {
    const { another, env } = await setup(world)
    const process = freezable(env)
    const reply = gate()
    const charges: string[] = []
    const zombie = another({ env: process, wrap: (store) => withSlowStart(store, reply.opened) })
    const { id } = await defineCharge(zombie, () => charges.push('zombie')).trigger(null)
    zombie.start()
    await env.advance(100)
    process.freeze()
    const heir = another()
    defineCharge(heir, () => charges.push('heir'))
    heir.start()
    await env.advance(40_000)
    await heir.decide(id, 'charge', 'run again')
    await env.advance(1000)
    reply.open()
    await env.advance(10)
    process.thaw()
    await env.advance(1000)
    expect(charges).toEqual(['heir'])
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('asked to stop before the function was called: nothing is open, and the next worker runs it', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, within } = await setup(world, { wrap })
    const release = faults.hold('apply.heartbeat')
    let calls = 0
    const define = (instance: Durably) => defineCharge(instance, () => ++calls)
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(100)
    const stopped = durably.stop({ timeout: 0 })
    await env.advance(10)
    release()
    await within(2000, stopped)
    expect(calls).toBe(0)
    const heir = another()
    define(heir)
    heir.start()
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
  })

  test('asked to stop while a plugin holds the function back: nothing is open, and the next worker runs it', async () => {
    const { durably, another, env, within } = await setup(world)
    const wrapper: StepWrapper = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('held back'))))
    durably.use({ name: 'around', install: (host) => host.wrapStep(wrapper) })
    let calls = 0
    const define = (instance: Durably) => defineCharge(instance, () => ++calls)
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(100)
    await within(2000, durably.stop({ timeout: 0 }))
    expect(calls).toBe(0)
    const heir = another()
    define(heir)
    heir.start()
    await env.advance(1000)
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
  })
})

test('a function never starts with an aborted signal, whenever its job fails while its start is stored', async () => {
  const { durably, env } = await setup('memory')
  const abortedAtStart: boolean[] = []
  const job = durably.defineJob({ name: 'job', input: z.number() }, async (ctx, microtasks) => {
    ctx.run('charge', ONCE, ({ signal }) => abortedAtStart.push(signal.aborted)).catch(() => {})
    for (let i = 0; i < microtasks; i++) await null
    throw new Error('enough')
  })
  const MICROTASKS = 200
  await job.batchTrigger(Array.from({ length: MICROTASKS }, (_, microtasks) => ({ payload: microtasks })))
  durably.start()
  await env.advance(60_000)
  expect(await durably.getRuns({ status: 'failed', limit: MICROTASKS })).toHaveLength(MICROTASKS)
  // In some runs the job failed before the function was called, in others after it.
  expect(abortedAtStart.length).toBeGreaterThan(0)
  expect(abortedAtStart.length).toBeLessThan(MICROTASKS)
  expect(abortedAtStart).not.toContain(true)
})
