// durably.subscribe: the event log of a run, from any place in it, wherever the run is executed (DESIGN §4).
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { emptyRunView, reduceRun } from '../../src/client/run-view.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { sleep } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import { type DurablyEvent, EVENT_TYPES } from '../../src/model/event.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import type { Subscription } from '../../src/runs/subscribe.ts'
import type { Store } from '../../src/store/store.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { type CallName, faulty } from './faulty-store.ts'
import { freezable } from './freezable-env.ts'
import { type Gate, gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { logOf } from './run-log.ts'
import * as processes from './worker-process.ts'
import { setup, WORLDS, type WorldName, type WorldOptions } from './world.ts'

const anything = z.unknown()

async function all(subscription: Subscription): Promise<RunLogEvent[]> {
  const events: RunLogEvent[] = []
  for await (const event of subscription) events.push(event)
  return events
}

/** What has come so far; the subscription goes on. */
/** A leader chooses the worker of a run, which is gone before it starts the run. */
async function assignAndOrphan({ cluster }: Store, runId: string): Promise<void> {
  const worker = { id: 'gone', token: 'gone', labels: '{}', capacity: 1, jobNames: '["job"]', version: null, lastsMs: 1000 }
  const epoch = (await cluster?.lead({ workerId: 'leader', token: 'leader', leaseMs: 1000 }))?.epoch ?? 0
  await cluster?.attend(worker)
  expect(await cluster?.assign({ epoch, assignments: [{ runId, version: 0, workerId: 'gone' }] })).toHaveLength(1)
  await cluster?.leave(worker)
  expect(await cluster?.orphan({ epoch, reassignAfterMs: 0 })).toHaveLength(1)
}

function follow(subscription: Subscription): { events: RunLogEvent[]; ended: Promise<unknown> } {
  const events: RunLogEvent[] = []
  const ended = (async () => {
    for await (const event of subscription) events.push(event)
  })().catch((error: unknown) => error)
  return { events, ended }
}

/** Without what is counted and timed differently here and there. */
function told(events: readonly DurablyEvent[]) {
  return events.map(({ sequence: _, timestamp: __, ...rest }) => rest)
}

/** A job that goes on by one step whenever the test says so. */
async function stepping(name: WorldName, options: WorldOptions = {}) {
  const { wrap, faults } = faulty()
  const world = await setup(name, { wrap, ...options })
  const gates = Array.from({ length: 3 }, () => gate())
  const job = world.durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    for (const [i, { opened }] of gates.entries())
      await ctx.run(`step ${i}`, async () => {
        await opened
        return i
      })
    return 'output'
  })
  const { id } = await job.trigger('payload')
  const goOn = async () => {
    gates.find((one): one is Gate => !used.has(one) && Boolean(used.add(one)))?.open()
    await world.env.idle()
  }
  const used = new Set<Gate>()
  return { ...world, faults, id, goOn }
}

/** A run whose log is complete: 2 steps, 8 events. */
async function finished(name: WorldName, options: WorldOptions = {}) {
  const { wrap, faults } = faulty()
  const world = await setup(name, { wrap, ...options })
  const job = world.durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    await ctx.run('one', () => new Date(1))
    await ctx.run('two', () => ctx.progress(1, 2))
    return 'output'
  })
  const { id } = await job.trigger({ a: 1 })
  await world.soon(world.durably.processUntilIdle())
  faults.calls.length = 0
  return { ...world, faults, id, job }
}

const LIFE = ['run:trigger', 'run:start', 'step:start', 'step:complete', 'step:start', 'run:progress', 'step:complete', 'run:complete']

describe.each(WORLDS)('subscribe on %s', (world) => {
  test('replays a finished run from its first event to its last, numbered, and ends', async () => {
    const { durably, id, soon } = await finished(world)
    const events = await soon(all(durably.subscribe(id)))
    expect(typesOf(events)).toEqual(LIFE)
    expect(events.map(({ sequence }) => sequence)).toEqual(LIFE.map((_, i) => i + 1))
    expect(events[3]).toMatchObject({ type: 'step:complete', stepName: 'one', output: new Date(1) })
  })

  test('goes on after the event that was seen last, and has nothing to say after the last one', async () => {
    const { durably, id, soon } = await finished(world)
    for (const after of [0, 1, 5, 7, 8]) expect(typesOf(await soon(all(durably.subscribe(id, { after }))))).toEqual(LIFE.slice(after))
  })

  test('is live: each event comes with its commit, no time passes, and the run’s end ends it', async () => {
    const { durably, id, env, goOn, soon } = await stepping(world)
    const { events, ended } = follow(durably.subscribe(id))
    await env.idle()
    expect(typesOf(events)).toEqual(['run:trigger'])
    durably.start()
    await env.idle()
    expect(typesOf(events)).toEqual(['run:trigger', 'run:start'])
    await goOn()
    expect(typesOf(events).slice(2)).toEqual(['step:start', 'step:complete'])
    await goOn()
    await goOn()
    await soon(ended)
    expect(events.at(-1)).toMatchObject({ type: 'run:complete', output: 'output' })
    expect(env.mono()).toBe(0)
  })

  test('begins where a run that was read says its log ends: what the reader has not seen, and no more', async () => {
    const { durably, id, env, goOn, soon } = await stepping(world)
    durably.start()
    await goOn()
    const run = await durably.getRun(id)
    const { events, ended } = follow(durably.subscribe(id, { after: run?.lastEventSequence ?? 0 }))
    await env.idle()
    expect([run?.currentStepIndex, run?.lastEventSequence, typesOf(events)]).toEqual([1, 4, []])
    await goOn()
    await goOn()
    await soon(ended)
    expect(typesOf(events)).toEqual(['step:start', 'step:complete', 'step:start', 'step:complete', 'run:complete'])
  })

  test('ends behind a cancel and behind a failure too', async () => {
    const { durably, env, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      throw new Error('bad')
    })
    const cancelled = await job.trigger(null)
    const seen = follow(durably.subscribe(cancelled.id))
    await env.idle()
    await durably.cancel(cancelled.id)
    await soon(seen.ended)
    expect(typesOf(seen.events)).toEqual(['run:trigger', 'run:cancel'])

    const { id } = await job.trigger(null)
    const failing = follow(durably.subscribe(id))
    durably.start()
    await soon(failing.ended)
    expect(failing.events.at(-1)).toMatchObject({ type: 'run:fail', error: 'bad', failedStepName: '' })
  })

  test('does not end behind a failure when the run was retried since', async () => {
    const { durably, soon, env } = await setup(world)
    let fails = true
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {
      if (fails) throw new Error('bad')
    })
    const { id } = await job.trigger(null)
    const slow = durably.subscribe(id).getReader()
    expect((await soon(slow.read())).value).toMatchObject({ type: 'run:trigger' })
    await soon(durably.processUntilIdle())
    expect((await soon(slow.read())).value).toMatchObject({ type: 'run:start' })
    await durably.retry(id)
    const life = ['run:trigger', 'run:start', 'run:fail', 'run:retry', 'run:start', 'run:complete']
    const during = follow(durably.subscribe(id))
    await env.idle()
    expect(typesOf(during.events)).toEqual(life.slice(0, 4))
    fails = false
    await soon(durably.processUntilIdle())
    await soon(during.ended)
    expect(typesOf(during.events)).toEqual(life)
    expect(typesOf(await soon(all(durably.subscribe(id))))).toEqual(life)
    const rest: (string | undefined)[] = []
    for (let read = await soon(slow.read()); !read.done; read = await soon(slow.read())) rest.push(read.value.type)
    expect(rest).toEqual(life.slice(2))
  })

  test('gives every event of the union in its full shape, as listeners of all processes together heard it', async () => {
    const { durably, another, env, store, within } = await setup(world, { maxRecoveries: 1 })
    const heard: DurablyEvent[] = []
    const chances = ['throws', 'releases', 'dies', 'completes']
    const instance = (durably: Durably) => {
      durably.use(withLogPersistence())
      for (const type of EVENT_TYPES) durably.on(type, (event) => void heard.push(event))
      return durably.defineJob({ name: 'job', input: anything }, async (ctx, payload) => {
        const chance = chances.shift()
        ctx.progress(1, 2, 'half')
        ctx.log.warn('a line', new Map([[1, payload]]))
        await ctx.run('good', () => ({ at: new Date(0), nothing: undefined }))
        await ctx.stream('text', async (emit, checkpoint, { signal, log }) => {
          log.info(`chance: ${chance}`)
          await emit(`${chance} `)
          await checkpoint({ by: chance })
          await emit({ lost: chance })
          await new Promise<void>((resolve) => void env.timer(60, resolve))
          if (chance === 'throws') throw new TypeError('bad')
          if (chance !== 'completes') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        })
        await ctx.sleep('nap', 20)
        return { payload }
      })
    }
    const job = instance(durably)
    const { id } = await job.trigger({ n: 1n })
    // Often enough to see what is compacted soon.
    const live = follow(another({ pollingInterval: 10 }).subscribe(id))
    await within(1000, durably.processUntilIdle())
    await durably.retry(id)
    durably.start()
    await env.advance(100)
    await within(1000, durably.stop({ timeout: 0 }))
    const sleeper = freezable(env)
    const lost = another({ env: sleeper, confirmFor: '5s' })
    instance(lost)
    lost.start()
    await env.advance(2000)
    sleeper.freeze()
    const heir = another()
    instance(heir)
    heir.start()
    await env.advance(38_000)
    const other = await job.trigger(null)
    await assignAndOrphan(store, other.id)
    await durably.cancel(other.id)
    await env.advance(2000)
    await live.ended
    sleeper.thaw()
    await env.advance(100)
    const cancelled = await all(durably.subscribe(other.id))

    const isChunk = ({ type }: DurablyEvent) => type === 'stream:chunk'
    const inLog = (event: DurablyEvent) => event.runId === id && !isChunk(event) && event.type !== 'worker:error'
    const seen = live.events.filter((event) => !isChunk(event))
    expect(told(seen)).toEqual(told(heard.filter(inLog)))
    expect(new Set(typesOf([...live.events, ...cancelled]))).toEqual(new Set(EVENT_TYPES.filter((type) => !type.startsWith('worker:'))))
    const texts = ofType(heard, 'stream:chunk').map(({ chunks }) => chunks)
    expect(texts).toEqual([
      ['throws '],
      [{ lost: 'throws' }],
      ['releases '],
      [{ lost: 'releases' }],
      ['dies '],
      [{ lost: 'dies' }],
      ['completes '],
      [{ lost: 'completes' }],
    ])
    // What the log keeps of them is one chunk; what a live reader saw of them is more, and ends with that one.
    expect(ofType(live.events, 'stream:chunk').at(-1)).toMatchObject({
      ...{ from: 0, chunks: ['throws releases dies completes ', { lost: 'completes' }], checkpoint: { state: { by: 'completes' } } },
    })
    const replayed = await all(durably.subscribe(id))
    expect(replayed).toEqual(await logOf(store, id))
    expect(ofType(replayed, 'stream:chunk')).toHaveLength(1)
  })

  test('a crash loop is reported as the failure that it is', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, within } = await setup(world, { wrap, maxRecoveries: 0 })
    const job = durably.defineJob({ name: 'job', input: anything }, () => new Promise(() => {}))
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    faults.die()
    const heir = another({ maxRecoveries: 0 })
    heir.defineJob({ name: 'job', input: anything }, async () => {})
    const heard = listenTo(heir)
    const { events, ended } = follow(heir.subscribe(id))
    heir.start()
    await within(35_000, ended)
    expect(told(events.slice(-1))).toEqual(told(ofType(heard, 'run:fail')))
  })
})

describe.each(WORLDS)('what subscribe refuses on %s', (world) => {
  test('a run that does not exist, and a place that its log has not reached', async () => {
    const { durably, id, soon } = await finished(world)
    await expect(soon(all(durably.subscribe('nobody')))).rejects.toMatchObject({ code: 'run_not_found', runId: 'nobody' })
    await expect(soon(all(durably.subscribe(id, { after: 9 })))).rejects.toMatchObject({
      ...{ code: 'cursor_ahead', runId: id, message: expect.stringContaining('ends at 8') },
    })
  })

  test('arguments that make no sense, at once', async () => {
    const { durably } = await setup(world)
    for (const after of [-1, 1.5, Number.NaN, '1' as never, null as never])
      expect(() => durably.subscribe('id', { after })).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    for (const runId of [undefined, null, 1]) expect(() => durably.subscribe(runId as never)).toThrow(DurablyError)
  })

  test('a run that is deleted while it is read', async () => {
    const { durably, id, soon, another } = await finished(world)
    const reader = durably.subscribe(id).getReader()
    await soon(reader.read())
    await another().deleteRun(id)
    const rest = (async () => {
      for (let i = 0; i < 100; i++) await reader.read()
    })()
    // What was fetched already is given; what would have to be fetched is gone.
    await soon(rest.catch(() => {}))
    await expect(soon(all(durably.subscribe(id)))).rejects.toMatchObject({ code: 'run_not_found' })
  })

  test('a retried run that is cancelled and deleted elsewhere while somebody waits for its next event', async () => {
    const { durably, another, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const { id } = await job.trigger(null)
    const { ended } = follow(durably.subscribe(id))
    await env.idle()
    const other = another()
    const deleted = other.cancel(id).then(() => other.deleteRun(id))
    await env.advance(2000)
    await deleted
    expect(await ended).toMatchObject({ code: 'run_deleted', runId: id })
  })
})

describe.each(WORLDS)('a subscription that is given up on %s', (world) => {
  /** Nothing is held any more: no timer waits, and no look at the store comes. */
  async function expectReleased({ env, faults }: Pick<Awaited<ReturnType<typeof stepping>>, 'env' | 'faults'>) {
    await env.advance(1000)
    faults.calls.length = 0
    await env.advance(10_000)
    expect(faults.calls).toEqual([])
    expect(env.nextInMs()).toBeNull()
  }

  test('holds nothing when its reader cancels: before it reads, while it waits, between two events', async () => {
    const here = await stepping(world)
    const { durably, id, env, soon } = here
    await durably.subscribe(id).cancel()
    const waiting = durably.subscribe(id).getReader()
    await soon(waiting.read())
    const pending = waiting.read()
    await env.idle()
    await waiting.cancel()
    expect(await pending).toEqual({ done: true, value: undefined })
    await expectReleased(here)

    await durably.cancel(id)
    const between = durably.subscribe(id).getReader()
    await soon(between.read())
    await between.cancel()
    await expectReleased(here)
  })

  test('holds nothing when a loop over it is left', async () => {
    const here = await stepping(world)
    for await (const { type } of here.durably.subscribe(here.id)) {
      expect(type).toBe('run:trigger')
      break
    }
    await expectReleased(here)
  })

  test('holds nothing when its reader just stops reading', async () => {
    const here = await stepping(world)
    await here.durably.cancel(here.id)
    await here.soon(here.durably.subscribe(here.id).getReader().read())
    await expectReleased(here)
  })

  test('holds nothing when it has ended, or failed', async () => {
    const here = await stepping(world)
    await here.durably.cancel(here.id)
    await here.soon(all(here.durably.subscribe(here.id)))
    await here.soon(all(here.durably.subscribe('nobody')).catch(() => {}))
    await expectReleased(here)
  })

  test('a signal that is aborted already, or later, rejects with its reason and holds nothing', async () => {
    const here = await stepping(world)
    const { durably, id, env, soon } = here
    const reason = new Error('enough')
    await expect(soon(all(durably.subscribe(id, { signal: AbortSignal.abort(reason) })))).rejects.toBe(reason)

    const later = new AbortController()
    const listening = vi.spyOn(later.signal, 'removeEventListener')
    const { events, ended } = follow(durably.subscribe(id, { signal: later.signal }))
    const between = durably.subscribe(id, { signal: later.signal }).getReader()
    await soon(between.read())
    await env.idle()
    expect(typesOf(events)).toEqual(['run:trigger'])
    later.abort(reason)
    expect(await soon(ended)).toBe(reason)
    await expect(between.read()).rejects.toBe(reason)
    await expectReleased(here)

    await durably.cancel(id)
    const never = new AbortController()
    const left = vi.spyOn(never.signal, 'removeEventListener')
    await soon(all(durably.subscribe(id, { signal: never.signal })))
    for await (const _ of durably.subscribe(id, { signal: never.signal })) break
    expect(left).toHaveBeenCalledTimes(2)
    expect(listening).not.toHaveBeenCalled()
  })
})

describe.each(WORLDS)('what a subscription costs on %s', (world) => {
  test('a slow reader of a long log holds one page of it, whatever its length', async () => {
    const { wrap, faults } = faulty()
    const { durably, soon } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 0; i < 1000; i++) await ctx.run(`step ${i}`, () => i)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    faults.calls.length = 0
    const reader = durably.subscribe(id).getReader()
    expect(faults.count('events.list')).toBe(0)
    for (let read = 1; read <= 500; read++) {
      expect((await soon(reader.read())).value?.sequence).toBe(read)
      expect(faults.count('events.list')).toBe(Math.ceil(read / 100))
    }
    await reader.cancel()
  })

  test('the row of the run is read for the events whose values it has, not for each of the others', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, within } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 0; i < 20; i++) await ctx.run(`step ${i}`, () => sleep(env, 1500))
    })
    const { id } = await job.trigger(null)
    durably.start()
    const events = await within(60_000, all(another({ wrap }).subscribe(id)))
    expect(events.filter(({ type }) => type === 'step:complete')).toHaveLength(20)
    expect(faults.count('events.list')).toBeGreaterThan(20)
    // The trigger, the start, the completion, and the look whether that was the end.
    expect(faults.count('runs.get')).toBeLessThan(8)
  })

  test('a run that has completed is one page of its log and its row', async () => {
    const { durably, id, faults, soon } = await finished(world)
    faults.calls.length = 0
    expect(typesOf(await soon(all(durably.subscribe(id)))).at(-1)).toBe('run:complete')
    expect([faults.count('events.list'), faults.count('runs.get')]).toEqual([1, 1])
  })

  test('many subscriptions share one look per polling interval', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    const runs = await job.batchTrigger(Array.from({ length: 30 }, () => ({ payload: null })))
    const watching = another({ wrap })
    const followed = runs.flatMap(({ id }) => [follow(watching.subscribe(id)), follow(watching.subscribe(id))])
    // The first look finds out where the logs stand.
    await env.advance(2000)
    faults.calls.length = 0
    for (let second = 0; second < 10; second++) await env.advance(1000)
    expect(faults.calls).toEqual(Array.from({ length: 10 }, () => 'events.heads'))

    await durably.cancel(runs[7]?.id ?? '')
    await env.advance(1000)
    expect(followed.map(({ events }) => events.length)).toEqual(runs.flatMap((_, i) => (i === 7 ? [2, 2] : [1, 1])))
    for (const { id } of runs) await durably.cancel(id)
    await env.advance(2000)
    await Promise.all(followed.map(({ ended }) => ended))
  })

  test('polling wakes nobody who was told already, and everybody who was not', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, soon } = await setup(world, { wrap })
    const goOn = [gate(), gate()]
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (const [i, { opened }] of goOn.entries()) await ctx.run(`step ${i}`, () => opened)
    })
    const { id } = await job.trigger(null)
    durably.start()
    const told = follow(durably.subscribe(id))
    const polling = follow(another().subscribe(id))
    await env.advance(2000)
    goOn[0]?.open()
    await env.idle()
    expect(typesOf(told.events).at(-1)).toBe('step:complete')
    expect(typesOf(polling.events).at(-1)).not.toBe('step:complete')
    faults.calls.length = 0
    await env.advance(1000)
    expect(faults.calls.filter((call) => call.startsWith('events.') || call === 'runs.get')).toEqual(['events.heads'])
    expect(typesOf(polling.events).at(-1)).toBe('step:complete')
    goOn[1]?.open()
    await env.advance(2000)
    await soon(Promise.all([told.ended, polling.ended]))
  })

  test.each<CallName>(['events.list', 'runs.get', 'steps.find', 'events.heads'])(
    'a store that fails in %s for a while is outlasted',
    async (call) => {
      const flaky = faulty()
      const { durably, another, env, soon, within } = await setup(world)
      const end = gate()
      const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.run('one', () => 1)
        await ctx.run('two', () => end.opened)
      })
      const { id } = await job.trigger(null)
      const { events, ended } = follow(another({ wrap: flaky.wrap }).subscribe(id))
      await env.advance(100)
      flaky.faults.fail(call, { when: 'before', times: 5 })
      durably.start()
      await env.advance(1500)
      end.open()
      await within(10_000, ended)
      expect(typesOf(events)).toEqual(typesOf(await soon(all(durably.subscribe(id)))))
    },
  )

  test('an error that does not pass ends it', async () => {
    const { durably, id, faults, soon } = await finished(world)
    faults.fail('events.list', { when: 'before', error: new DurablyError('store_corrupt', 'broken') })
    await expect(soon(all(durably.subscribe(id)))).rejects.toMatchObject({ code: 'store_corrupt' })
  })
})

describe.each(WORLDS)('a run that another instance executes, on %s', (world) => {
  test('is followed to its end; polling finds what no notification announced', async () => {
    const { another, id, goOn, env, durably } = await stepping(world)
    const { events, ended } = follow(another({ pollingInterval: 200 }).subscribe(id))
    durably.start()
    for (let i = 0; i < 3; i++) {
      await env.advance(200)
      const before = events.length
      await goOn()
      await env.advance(200)
      expect(events.length).toBeGreaterThan(before)
    }
    await ended
    expect(typesOf(events)).toEqual(typesOf(await all(durably.subscribe(id))))
  })

  test('triggerAndWait resolves within one polling interval of its end', async () => {
    const { durably, another, env, within } = await setup(world)
    const [end, begun] = [gate(), gate()]
    durably.defineJob({ name: 'job', input: anything }, async () => {
      begun.open()
      await end.opened
      return 'done'
    })
    durably.start()
    const client = another({ pollingInterval: 300 }).defineJob({ name: 'job', input: anything }, async () => 'never here')
    const result = client.triggerAndWait(null)
    await within(2000, begun.opened)
    await env.advance(5000)
    end.open()
    expect(await within(310, result)).toMatchObject({ output: 'done' })
  })
})

describe.each(WORLDS)('without an event log on %s', (world) => {
  test('there is nothing to subscribe to, and everything else works', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, soon, within, store } = await setup(world, { wrap, eventLog: false })
    durably.use(withLogPersistence())
    const heard = listenTo(durably)
    let fails = true
    const define = (instance: Durably) =>
      instance.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.run('one', () => ctx.progress(1))
        ctx.log.info('line')
        await ctx.stream('text', (emit) => emit('a'))
        if (fails) throw new Error('bad')
        return 'done'
      })
    const job = define(durably)
    const { id } = await job.trigger(null)
    expect(() => durably.subscribe(id)).toThrow(expect.objectContaining({ code: 'event_log_off' }))
    await soon(durably.processUntilIdle())
    fails = false
    await durably.retry(id)
    durably.start()
    await env.idle()
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'done', progress: { current: 1 } })
    expect((await durably.getLogs(id)).map(({ message }) => message)).toContain('line')
    expect(typesOf(heard)).toContain('run:retry')
    expect(await store.events.list(id)).toEqual([])

    expect(await within(2500, define(another()).triggerAndWait(null))).toMatchObject({ output: 'done' })
    const { id: lost } = await durably.defineJob({ name: 'hangs', input: anything }, () => new Promise(() => {})).trigger(null)
    await env.advance(100)
    faults.die()
    const heir = another()
    heir.defineJob({ name: 'hangs', input: anything }, async () => 'taken over')
    heir.start()
    await env.advance(33_000)
    expect(await heir.getRun(lost)).toMatchObject({ status: 'completed', recoveries: 1 })
    await heir.deleteRun(lost)
  })
})

test('nothing is skipped and nothing comes twice, whoever writes, wherever it is read, however slowly and however often it is cut', {
  timeout: 60_000,
}, async () => {
  const pauses = fc.array(fc.constantFrom(0, 0, 1, 40, 130, 400), { minLength: 5, maxLength: 40 })
  const steps = fc.array(fc.constantFrom(0, 3, 20, 90, 200), { minLength: 1, maxLength: 12 })
  /** After so many events the reader leaves, and goes on with a new subscription. */
  const readers = fc.array(fc.record({ pauses, cutEvery: fc.constantFrom(1, 3, 7, 1000), isElsewhere: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  })
  await fc.assert(
    fc.asyncProperty(steps, readers, async (steps, readers) => {
      const env = virtualEnv()
      const store = memoryStore({ env })
      const [here, elsewhere] = [createDurably({ env, store }), createDurably({ env, store, pollingInterval: 50 })]
      const pause = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
      const job = here.defineJob({ name: 'job', input: anything }, async (ctx) => {
        const work = steps.map((ms, i) =>
          i % 3 === 2
            ? ctx.stream(`step ${i}`, async (emit) => {
                for (let part = 0; part < 5; part++) await emit(`${part} `).then(() => pause(ms))
              })
            : ctx.run(`step ${i}`, () => pause(ms).then(() => ctx.progress(i))),
        )
        await Promise.all(work)
      })
      const { id } = await job.trigger(null)
      const read = readers.map(async ({ pauses, cutEvery, isElsewhere }) => {
        const events: RunLogEvent[] = []
        while (events.at(-1)?.type !== 'run:complete') {
          const subscription = (isElsewhere ? elsewhere : here).subscribe(id, { after: events.at(-1)?.sequence ?? 0 })
          for await (const event of subscription) {
            events.push(event)
            await pause(pauses[events.length % pauses.length] ?? 0)
            if (events.length % cutEvery === 0) break
          }
        }
        return events
      })
      here.start()
      await env.advance(100_000)
      await here.stop()

      const log = await logOf(store, id)
      const isStream = ({ type }: RunLogEvent) => type.startsWith('stream:')
      for (const events of await Promise.all(read)) {
        expect(events.filter((event) => !isStream(event))).toEqual(log.filter((event) => !isStream(event)))
        const sequences = events.map(({ sequence }) => sequence)
        expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
        expect(events.reduce(reduceRun, emptyRunView)).toEqual(log.reduce(reduceRun, emptyRunView))
      }
    }),
    { numRuns: 40 },
  )
})

test('where streams cannot be iterated, a subscription still can', async () => {
  const { durably, id, soon, env, faults } = await finished('memory')
  const native = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator)
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator)
  try {
    expect(typesOf(await soon(all(durably.subscribe(id))))).toEqual(LIFE)
    const left = durably.subscribe(id)
    for await (const _ of left) break
    expect(left.locked).toBe(false)
    await expect(soon(all(durably.subscribe('nobody')))).rejects.toMatchObject({ code: 'run_not_found' })
  } finally {
    if (native) Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, native)
  }
  await env.advance(2000)
  faults.calls.length = 0
  await env.advance(5000)
  expect(faults.calls).toEqual([])
})

test('a subscription of an instance whose database is closed ends with an error instead of waiting for ever', async () => {
  const { another, durably, env, within } = await setup('sqlite')
  const { id } = await durably.defineJob({ name: 'job', input: anything }, async () => {}).trigger(null)
  const closing = another()
  const { ended } = follow(closing.subscribe(id))
  await env.idle()
  await closing[Symbol.asyncDispose]()
  expect(await within(2000, ended)).toMatchObject({ code: 'store_closed' })
  await env.advance(2000)
  expect(env.nextInMs()).toBeNull()
})

test('a run that a real other process executes is followed to its end', async () => {
  const { durably, job, startWorker } = await processes.setup()
  const { id } = await job.trigger({ steps: 5, stepMs: 20 })
  const events = all(durably.subscribe(id))
  const worker = await startWorker()
  await worker.told('run:complete')
  const told = [
    'run:trigger',
    'run:start',
    ...Array.from({ length: 5 }, () => ['step:start', 'run:progress', 'step:complete']).flat(),
    'run:complete',
  ]
  expect(typesOf(await events)).toEqual(told)
})
