// run.waitingFor and durably.explain: why a run does not go on, whatever the reason is.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import type { Cause, Remedy, WaitingFor } from '../../src/index.ts'
import { iso } from '../../src/model/env.ts'
import type { JobContext } from '../../src/model/job.ts'
import { retry } from '../../src/model/retry-policy.ts'
import type { Store } from '../../src/store/store.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type World } from './world.ts'

const anything = z.unknown()
const MINUTE = 60_000

function define(durably: Durably, run: (ctx: JobContext) => unknown, name = 'job') {
  return durably.defineJob({ name, input: anything }, run)
}

/** What getRun and explain say of a run, and that they agree. */
async function told({ soon }: World, durably: Durably, id: string) {
  const run = await soon(durably.getRun(id))
  const explained = await soon(durably.explain(id))
  const [first] = explained.chain
  expect(first).toMatchObject({ runId: id, jobName: run?.jobName, status: run?.status, phase: run?.phase, version: run?.version })
  expect(first?.waitingFor[0]).toStrictEqual(run?.waitingFor)
  expect(explained.text.split('\n').length).toBeGreaterThan(1)
  expect(explained.text).toContain(id)
  expect(explained.text).toBe([...explained.chain.map(({ text }) => text), explained.advice].join('\n'))
  return { run, waitingFor: run?.waitingFor, ...explained }
}

describe.each(WORLDS)('what an unfinished run waits for, on %s', (name) => {
  test('a run whose start is delayed waits for its time', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const { id } = await world.soon(define(durably, () => 1).trigger(null, { delay: '1m' }))
    const until = iso(env.wall() + MINUTE)
    const since = iso(env.wall())
    const waitingFor: WaitingFor = { kind: 'delay', until }
    expect(await told(world, durably, id)).toMatchObject({
      ...{ waitingFor, cause: 'delay', since, actor: 'time', remedy: { do: 'wait', until } },
      text: expect.stringContaining(`waits for its start at ${until}, since ${since}.\nNobody has to act`),
    })
    // A list says the same where the row alone tells it, and so does the answer to the trigger.
    expect((await world.soon(durably.getRuns()))[0]?.waitingFor).toStrictEqual(waitingFor)
  })

  test('a run that is due waits for a worker: none is started, or none knows the job', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const { id } = await world.soon(define(durably, () => 1).trigger(null))
    await env.advance(MINUTE)
    const remedy: Remedy = { do: 'start a worker', jobName: 'job' }
    expect(await told(world, durably, id)).toMatchObject({
      ...{ waitingFor: { kind: 'worker' }, cause: 'worker', actor: 'operator', remedy, since: iso(env.wall() - MINUTE) },
      text: expect.stringContaining('this process executes no runs'),
    })
    const stranger = world.another()
    stranger.start()
    await env.advance(2000)
    expect(await told(world, stranger, id)).toMatchObject({
      ...{ waitingFor: { kind: 'worker' }, cause: 'unknown job', actor: 'operator', remedy },
      text: expect.stringContaining('this process has no job of that name'),
    })
  })

  test('a run whose slot is taken waits for one, as far as this process knows', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const job = define(durably, (ctx) => ctx.run('work', () => new Promise(() => {})))
    const busy = await world.soon(job.trigger(null))
    durably.start()
    await env.advance(1000)
    const { id } = await world.soon(job.trigger(null))
    await env.advance(1000)
    expect(await told(world, durably, id)).toMatchObject({
      ...{ waitingFor: { kind: 'slot' }, cause: 'slot', actor: 'worker', remedy: { do: 'wait', until: null } },
      text: expect.stringContaining('all 1 slots of this process are taken'),
    })
    const executing = await told(world, durably, busy.id)
    expect(executing).toMatchObject({ waitingFor: undefined, cause: 'executing', actor: 'worker' })
    const row = await world.store.runs.get(busy.id)
    expect(executing.text).toContain(`executes in this process (lease "${row?.leaseOwner}" until ${iso(row?.leaseExpiresAt ?? 0)})`)
    expect((await told(world, world.another(), busy.id)).text).toContain('executes in another process')
  })

  test('a run whose key is held waits for the one that holds it, and for what that one waits for', async () => {
    const world = await setup(name, { concurrency: 2 })
    const { durably, env } = world
    const open = gate()
    const job = define(durably, (ctx) => ctx.run('work', () => open.opened))
    const holder = await world.soon(job.trigger(null, { concurrencyKey: 'account 1' }))
    durably.start()
    await env.advance(1000)
    const { id } = await world.soon(job.trigger(null, { concurrencyKey: 'account 1' }))
    await env.advance(1000)
    const explained = await told(world, durably, id)
    expect(explained).toMatchObject({ waitingFor: { kind: 'key', heldBy: holder.id }, cause: 'executing' })
    expect(explained.chain.map(({ runId, cause }) => [runId, cause])).toStrictEqual([
      [id, 'key'],
      [holder.id, 'executing'],
    ])
    expect(explained.text).toContain(`waits for its concurrency key "account 1", held by run ${holder.id}`)
    open.open()
  })

  test('a run whose key is held by one that sleeps goes on by itself only then, and is told what frees the key sooner', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const job = define(durably, (ctx) => ctx.sleep('month', '30d'))
    const holder = await world.soon(job.trigger(null, { concurrencyKey: 'account 1', holdKey: true }))
    await world.soon(durably.processOne())
    const until = iso(env.wall() + 30 * 24 * 60 * MINUTE)
    const { id } = await world.soon(job.trigger(null, { concurrencyKey: 'account 1' }))
    const explained = await told(world, durably, id)
    expect(explained).toMatchObject({ cause: 'sleep', actor: 'time', remedy: { do: 'wait', until } })
    expect(explained.text).not.toContain('Nobody has to act')
    expect(explained.advice).toBe(
      `It goes on by itself when run ${holder.id} has ended, not before ${until}. To free its key sooner, cancel that run, which ends it: durably.cancel("${holder.id}").`,
    )
    expect((await told(world, durably, holder.id)).advice).toBe(`Nobody has to act: it goes on at ${until}.`)
    // What it says is so.
    await world.soon(durably.cancel(holder.id))
    await world.soon(durably.processOne())
    expect(await told(world, durably, id)).toMatchObject({ cause: 'sleep', chain: [{ runId: id }] })
  })

  test.each<[string, (ctx: JobContext) => unknown, (until: string, id: string) => WaitingFor, (until: string, id: string) => Remedy]>([
    ['sleep', (ctx) => ctx.sleep('nap', MINUTE), (until) => ({ kind: 'sleep', step: 'nap', until }), (until) => ({ do: 'wait', until })],
    [
      'step retry',
      (ctx) => ctx.run('call', { retry: retry.fixed({ maxAttempts: 3, delay: MINUTE }) }, () => Promise.reject(new Error('busy'))),
      (until) => ({ kind: 'step retry', step: 'call', until }),
      (until) => ({ do: 'wait', until }),
    ],
    [
      'signal',
      (ctx) => ctx.waitFor('approval'),
      () => ({ kind: 'signal', name: 'approval', until: null }),
      (_, runId) => ({ do: 'signal', runId, name: 'approval' }),
    ],
    [
      'signal',
      (ctx) => ctx.waitFor('approval', { timeout: '1m' }),
      (until) => ({ kind: 'signal', name: 'approval', until }),
      (_, runId) => ({ do: 'signal', runId, name: 'approval' }),
    ],
  ])('a run that is parked says so: %s', async (cause, body, waitingFor, remedy) => {
    const world = await setup(name)
    const { durably, env } = world
    const { id } = await world.soon(define(durably, body).trigger(null))
    await world.soon(durably.processOne())
    const until = iso(env.wall() + MINUTE)
    expect(await told(world, durably, id)).toMatchObject({
      ...{ waitingFor: waitingFor(until, id), cause, since: iso(env.wall()), remedy: remedy(until, id) },
    })
  })

  test('the next attempt of a job, with the error of the last one', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const body = () => Promise.reject(new Error('the server is down'))
    const policy = retry.fixed({ maxAttempts: 2, delay: MINUTE })
    const { id } = await world.soon(durably.defineJob({ name: 'job', input: anything, retry: policy }, body).trigger(null))
    await world.soon(durably.processOne())
    const until = iso(env.wall() + MINUTE)
    expect(await told(world, durably, id)).toMatchObject({
      ...{ waitingFor: { kind: 'retry', until }, cause: 'retry', actor: 'time', remedy: { do: 'wait', until } },
      chain: [{ failedAttempts: { count: 1, error: 'the server is down' } }],
      advice: `It is tried again at ${until}; nobody has to act unless the error stays.`,
      text: expect.stringContaining(`waits for its next attempt at ${until}, after an attempt that failed with "the server is down"`),
    })
  })

  test('the next attempt of a step, with the error of the last one, and how many there were since the last retry', async () => {
    const world = await setup(name)
    const { durably, env } = world
    let call = 0
    const policy = retry.fixed({ maxAttempts: 3, delay: MINUTE })
    const job = define(durably, async (ctx) => {
      await ctx.run('before', () => 1)
      await ctx.run('call carrier', { retry: policy }, () => Promise.reject(new Error(`503, call ${++call}\n${'more '.repeat(100)}`)))
    })
    const { id } = await world.soon(job.trigger(null))
    const attempt = async () => {
      await env.advance(MINUTE)
      await world.soon(durably.processOne())
      return told(world, durably, id)
    }
    expect((await attempt()).chain[0]?.failedAttempts).toStrictEqual({ count: 1, error: '503, call 1' })
    const second = await attempt()
    const until = iso(env.wall() + MINUTE)
    expect(second.text).toContain(
      `waits for the next attempt of step "call carrier" at ${until}, after 2 attempts that failed, the last one with "503, call 2", since`,
    )
    expect(second.advice).toBe(`It is tried again at ${until}; nobody has to act unless the error stays.`)
    expect(await attempt()).toMatchObject({ cause: 'ended', chain: [{ failedAttempts: null }] })
    await world.soon(durably.retry(id))
    expect((await attempt()).chain[0]?.failedAttempts).toStrictEqual({ count: 1, error: '503, call 4' })
  })

  test('of several waits all are reported, and what somebody has to act for comes first', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const job = define(durably, (ctx) => Promise.all([ctx.sleep('nap', MINUTE), ctx.waitFor('approval')]))
    const { id } = await world.soon(job.trigger(null, { deadline: '1h' }))
    await world.soon(durably.processOne())
    const { chain, text } = await told(world, durably, id)
    expect(chain[0]?.waitingFor.map(({ kind }) => kind)).toStrictEqual(['signal', 'sleep'])
    expect(text).toContain(`It also waits for the end of sleep "nap" at ${iso(env.wall() + MINUTE)}.`)
    expect(text).toContain('its deadline')
  })

  test('the chain goes from a parent to its child, to the child of that one, and to what it waits for', async () => {
    const world = await setup(name)
    const { durably } = world
    const leaf = define(durably, (ctx) => ctx.waitFor('approval'), 'leaf')
    const middle = define(durably, (ctx) => ctx.invoke(leaf, null), 'middle')
    const root = define(durably, (ctx) => ctx.invoke(middle, null, { name: 'ask the middle' }), 'root')
    const { id } = await world.soon(root.trigger(null))
    await world.soon(durably.processUntilIdle())
    const explained = await told(world, durably, id)
    expect(explained.chain.map(({ jobName, cause }) => [jobName, cause])).toStrictEqual([
      ['root', 'child'],
      ['middle', 'child'],
      ['leaf', 'signal'],
    ])
    const [, child, last] = explained.chain
    expect(explained.waitingFor).toStrictEqual({ kind: 'child', step: 'ask the middle', runId: child?.runId, jobName: 'middle' })
    expect(explained.remedy).toStrictEqual({ do: 'signal', runId: last?.runId, name: 'approval' })
    expect(explained.text.split('\n')).toHaveLength(4)
    // Doing what it says moves them all.
    await world.soon(durably.signal(last?.runId ?? '', 'approval', true))
    await world.soon(durably.processUntilIdle())
    expect(await told(world, durably, id)).toMatchObject({ cause: 'ended', remedy: { do: 'nothing' } })
  })

  test('an effect in doubt waits for a decision', async () => {
    const mortal = faulty()
    const world = await setup(name, { wrap: mortal.wrap })
    const define = (durably: Durably) =>
      durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('charge', { effect: 'once' }, () => new Promise(() => {})))
    const { id } = await world.soon(define(world.durably).trigger(null))
    world.durably.start()
    await world.env.advance(1000)
    mortal.faults.die()
    const heir = world.another()
    define(heir)
    await world.env.advance(30_000)
    await world.within(5000, heir.processOne())
    expect(await told(world, heir, id)).toMatchObject({
      waitingFor: { kind: 'decision', step: 'charge' },
      ...{ cause: 'decision', actor: 'decider', remedy: { do: 'decide', runId: id, step: 'charge' } },
    })
    await world.soon(heir.decide(id, 'charge', { done: 1 }))
    await world.soon(heir.processOne())
    expect(await told(world, heir, id)).toMatchObject({ cause: 'ended' })
  })

  test('a run that has lost its worker, and nobody has taken back', async () => {
    const mortal = faulty()
    const world = await setup(name, { wrap: mortal.wrap })
    const { id } = await world.soon(define(world.durably, () => new Promise(() => {})).trigger(null))
    world.durably.start()
    await world.env.advance(1000)
    mortal.faults.die()
    await world.env.advance(MINUTE)
    const heir = world.another()
    const lost = await told(world, heir, id)
    const row = await world.store.runs.get(id)
    expect(lost).toMatchObject({ cause: 'lease over', actor: 'operator', remedy: { do: 'start a worker', jobName: 'job' } })
    expect(lost.since).toBe(iso(row?.leaseExpiresAt ?? 0))
    // Doing what it says moves it.
    define(heir, () => 'done')
    heir.start()
    await world.env.advance(2000)
    expect(await told(world, heir, id)).toMatchObject({ cause: 'ended', run: { output: 'done' } })
  })

  test('a run that was asked to stop, and has not yet', async () => {
    const world = await setup(name)
    const { durably, env } = world
    const { id } = await world.soon(define(durably, (ctx) => ctx.run('deaf', () => new Promise(() => {}))).trigger(null))
    durably.start()
    await env.advance(1000)
    await world.soon(durably.cancel(id))
    expect(await told(world, durably, id)).toMatchObject({
      ...{ cause: 'cancelling', actor: 'worker', since: iso(env.wall()) },
      text: expect.stringContaining('ignores ctx.signal'),
    })
  })

  test('a run that has ended: how, and that a failed one can be retried as it was explained', async () => {
    const world = await setup(name)
    const { durably } = world
    const job = define(durably, () => Promise.reject(new Error('boom')))
    const { id } = await world.soon(job.trigger(null))
    await world.soon(durably.processOne())
    const failed = await told(world, durably, id)
    expect(failed).toMatchObject({ waitingFor: undefined, cause: 'ended', actor: 'operator', remedy: { do: 'retry', runId: id } })
    expect(failed.text).toContain(`has failed: "boom"`)
    const ifVersion = failed.chain[0]?.version ?? 0
    expect(failed.text).toContain(`{ ifVersion: ${ifVersion} }`)
    await world.soon(durably.retry(id, { ifVersion }))
    // It is another run by now than the one that was explained.
    await expect(world.soon(durably.cancel(id, { ifVersion }))).rejects.toMatchObject({ code: 'version_mismatch' })
    expect(await told(world, durably, id)).toMatchObject({ cause: 'worker', chain: [{ version: ifVersion + 1 }] })
    await world.soon(durably.cancel(id))
    expect(await told(world, durably, id)).toMatchObject({ cause: 'ended', actor: 'nobody', remedy: { do: 'nothing' } })
  })

  test('a run that does not exist is not explained', async () => {
    const world = await setup(name)
    await expect(world.soon(world.durably.explain('nobody'))).rejects.toMatchObject({ code: 'run_not_found', runId: 'nobody' })
  })

  test('reads that do not fit together make no endless chain', async () => {
    // Each of the two seems to hold the key that the other one waits for.
    const holders: string[] = []
    const wrap = (store: Store): Store => ({ ...store, runs: { ...store.runs, getHolder: () => store.runs.get(holders.shift() ?? '') } })
    const world = await setup(name, { wrap })
    const job = define(world.durably, () => 1)
    const { id } = await world.soon(job.trigger(null, { concurrencyKey: 'k' }))
    const other = await world.soon(job.trigger(null, { concurrencyKey: 'k' }))
    holders.push(other.id, id)
    const { chain, cause } = await world.soon(world.durably.explain(id))
    expect(chain.map(({ runId }) => runId)).toStrictEqual([id, other.id])
    expect(cause satisfies Cause).toBe('key')
  })

  test('a plain run is read with one statement, what it waits for included', async () => {
    const asked: string[] = []
    const wrap = (store: Store): Store => {
      const note = <T extends object>(verbs: T): T =>
        new Proxy(verbs, {
          get: (target, verb) => {
            const call = Reflect.get(target, verb) as (...args: unknown[]) => unknown
            return (...args: unknown[]) => {
              asked.push(String(verb))
              return call.apply(target, args)
            }
          },
        })
      return { ...store, runs: note(store.runs) }
    }
    const world = await setup(name, { wrap })
    const job = define(world.durably, (ctx) => ctx.sleep('nap', MINUTE))
    const { id } = await world.soon(job.trigger(null))
    const asksFor = async () => {
      asked.length = 0
      await world.soon(world.durably.getRun(id))
      return asked
    }
    expect(await asksFor()).toStrictEqual(['get'])
    await world.soon(world.durably.processOne())
    expect(await asksFor()).toStrictEqual(['get'])
    await world.soon(world.durably.cancel(id))
    expect(await asksFor()).toStrictEqual(['get'])
  })
})
