// ctx.stream: the output of a step while it comes, durable and never doubled (DESIGN §4).
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { retry } from '../../src/index.ts'
import { DurablyError } from '../../src/model/errors.ts'
import type { Emit, JobContext } from '../../src/model/job.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import type { OwnerWrite } from '../../src/store/owner-write.ts'
import type { Store } from '../../src/store/store.ts'
import { unhandledRejections } from './failing-listeners.ts'
import { faulty } from './faulty-store.ts'
import { freezable } from './freezable-env.ts'
import { type Gate, gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { countOf, logOf, textOf, viewOf } from './run-log.ts'
import { setup, WORLDS, type WorldName, type WorldOptions } from './world.ts'

const anything = z.unknown()

/** A run whose stream does what the test says, one move after the other; `end` lets its function return. */
async function streaming(name: WorldName, options: WorldOptions = {}) {
  const { wrap, faults } = faulty()
  const world = await setup(name, { wrap, ...options })
  const moves = defineMoves(world.durably)
  const { id } = await moves.job.trigger(null)
  world.durably.start()
  await world.soon(moves.begun)
  return { ...world, ...moves, id, faults, flushes: () => faults.count('apply.heartbeat') }
}

interface Hands {
  emit: Emit
  checkpoint: (state: unknown) => Promise<void>
  state: unknown
}

function defineMoves(durably: Durably) {
  const begun = gate<Hands>()
  const ending: Gate<unknown> = gate()
  const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    const value = await ctx.stream('text', (emit, checkpoint, { signal }) => {
      begun.open({ emit, checkpoint, state: checkpoint.state })
      return new Promise<unknown>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        ending.opened.then((value) => (value instanceof Error ? reject(value) : resolve(value)))
      })
    })
    return { value }
  })
  return { job, begun: begun.opened, end: ending.open }
}

describe.each(WORLDS)('the output of a stream on %s', (world) => {
  test('is merged and written every 50 ms, one commit for all of it', async () => {
    const { begun, env, id, store, flushes, end } = await streaming(world)
    const { emit } = await begun
    for (const text of ['a', 'b', 'c']) await emit(text)
    await env.advance(49)
    expect(flushes()).toBe(0)
    await env.advance(1)
    expect(flushes()).toBe(1)
    expect(await logOf(store, id)).toMatchObject([
      { type: 'run:trigger' },
      { type: 'run:start' },
      { type: 'step:start', stepName: 'text', stepIndex: 0 },
      { type: 'stream:chunk', stepName: 'text', from: 0, chunks: ['abc'] },
    ])
    await emit('d')
    await emit('e')
    await env.advance(50)
    expect(flushes()).toBe(2)
    expect((await logOf(store, id)).at(-1)).toMatchObject({ type: 'stream:chunk', from: 3, chunks: ['de'] })
    end(null)
  })

  test('of several runs of a worker is written together, within 50 ms of the first', async () => {
    const commits: number[] = []
    const noting = (store: Store): Store => ({
      ...store,
      runs: {
        ...store.runs,
        apply(writes) {
          const flushes = writes.filter(({ events }) => events.some(({ type }) => type === 'stream:chunk'))
          if (flushes.length > 0) commits.push(flushes.length)
          return store.runs.apply(writes)
        },
      },
    })
    const { durably, env, store, soon } = await setup(world, { wrap: noting, concurrency: 5 })
    const begun = gate()
    const emits: Emit[] = []
    const ending = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.stream('text', async (emit) => {
        if (emits.push(emit) === 5) begun.open()
        await ending.opened
      })
    })
    const runs = await job.batchTrigger(Array.from({ length: 5 }, () => ({ payload: null })))
    durably.start()
    await soon(begun.opened)
    for (const word of ['one ', 'two ', 'three ']) {
      for (const emit of emits) {
        await emit(word)
        await env.advance(10)
      }
    }
    expect(commits).toEqual([5, 5, 5])
    expect(await Promise.all(runs.map(({ id }) => textOf(store, id, 'text')))).toEqual(Array(5).fill('one two three '))
    // One that has ended leaves the window to the others.
    await emits[0]?.('four')
    ending.open()
    await env.advance(50)
    expect(commits.reduce((sum, n) => sum + n, 0)).toBe(15 + 5)
  })

  test('is written at once when 4 KB wait, of texts and of values alike', async () => {
    const { begun, env, flushes, end } = await streaming(world)
    const { emit } = await begun
    await emit('x'.repeat(4095))
    await env.idle()
    expect(flushes()).toBe(0)
    await emit('x')
    await env.idle()
    expect(flushes()).toBe(1)
    await emit({ large: 'y'.repeat(4096) })
    await env.idle()
    expect(flushes()).toBe(2)
    end(null)
  })

  test('has one write in flight: what comes meanwhile is one write more', async () => {
    const { begun, env, faults, flushes, id, store, end } = await streaming(world)
    const { emit } = await begun
    const release = faults.hold('apply.heartbeat')
    await emit('a')
    await env.advance(50)
    for (let i = 0; i < 10; i++) {
      await emit('b')
      await env.advance(60)
    }
    expect(flushes()).toBe(1)
    release()
    await env.advance(50)
    expect(flushes()).toBe(2)
    expect(await textOf(store, id, 'text')).toBe('abbbbbbbbbb')

    const releaseAgain = faults.hold('apply.heartbeat')
    for (let i = 0; i < 5; i++) await emit('c'.repeat(5000))
    await env.idle()
    expect(flushes()).toBe(3)
    releaseAgain()
    await env.advance(50)
    expect(flushes()).toBe(4)
    end(null)
  })

  test('costs no commit when nothing is put out, nor when it ends within 50 ms', async () => {
    const { wrap, faults } = faulty()
    const { durably, store, soon } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.stream('silent', async (emit) => {
        await emit('')
        return 1
      })
      return ctx.stream('short', async (emit) => {
        await emit('short')
        return 2
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(faults.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply.recordStep', 'apply.recordStep', 'apply.complete'])
    expect(typesOf(await logOf(store, id))).toEqual([
      ...['run:trigger', 'run:start', 'step:start', 'step:complete', 'step:start', 'stream:chunk', 'step:complete', 'run:complete'],
    ])
    expect(await viewOf(store, id)).toMatchObject({ status: 'completed', output: 2, streams: { short: { text: 'short', isDone: true } } })
  })

  test('empty texts, which models like to send, cost nothing', async () => {
    const { begun, env, flushes, end, id, store, durably } = await streaming(world)
    const heard = listenTo(durably)
    const { emit } = await begun
    await emit('')
    await env.advance(100)
    expect(flushes()).toBe(0)
    await emit('a')
    await emit('')
    await env.advance(100)
    expect(flushes()).toBe(1)
    expect(await textOf(store, id, 'text')).toBe('a')
    expect(ofType(heard, 'stream:chunk').map(({ chunks }) => chunks)).toEqual([['a']])
    end(null)
  })

  test('may be texts and values in any order; values survive as they survive everywhere', async () => {
    const { begun, env, id, store, end } = await streaming(world)
    const { emit } = await begun
    const values = [new Date(0), { nested: [new Map([['k', 1n]])] }, undefined, null, -0, new Uint8Array([1, 2])]
    await emit('a')
    for (const value of values) await emit(value)
    await emit('b')
    await emit('c')
    await env.advance(50)
    expect((await viewOf(store, id)).streams.text?.chunks).toEqual(['a', ...values, 'bc'])
    end(null)
    await env.idle()
    expect((await viewOf(store, id)).streams.text?.chunks).toEqual(['a', ...values, 'bc'])
    expect((await viewOf(store, id)).streams.text?.text).toBe('abc')
  })

  test('does not change when its source changes an object that it had put out', async () => {
    const { begun, env, id, store, durably, end } = await streaming(world)
    const heard = listenTo(durably)
    const { emit } = await begun
    const delta = { text: 'before' }
    await emit(delta)
    delta.text = 'after'
    await env.advance(50)
    expect((await viewOf(store, id)).streams.text?.chunks).toEqual([{ text: 'before' }])
    expect(ofType(heard, 'stream:chunk')[0]?.chunks).toEqual([{ text: 'before' }])
    end(null)
  })

  test('reaches a subscriber of the same process with its commit: nobody polls for it', async () => {
    const { begun, env, durably, id, end } = await streaming(world)
    const seen: unknown[] = []
    const following = (async () => {
      for await (const event of durably.subscribe(id)) if (event.type === 'stream:chunk') seen.push(event.chunks)
    })()
    await env.idle()
    const { emit } = await begun
    await emit('a')
    await env.advance(50)
    expect(seen).toEqual([['a']])
    await emit('b')
    await env.advance(50)
    expect(seen).toEqual([['a'], ['b']])
    end(null)
    await env.idle()
    await following
    expect(seen).toEqual([['a'], ['b'], ['ab']])
  })

  test('is emitted to listeners at once, chunk by chunk', async () => {
    const { begun, durably, id, end } = await streaming(world)
    const heard = listenTo(durably)
    const { emit } = await begun
    await emit('ab')
    await emit({ n: 1 })
    await emit('c')
    expect(ofType(heard, 'stream:chunk')).toMatchObject([
      { runId: id, jobName: 'job', stepName: 'text', from: 0, chunks: ['ab'] },
      { from: 2, chunks: [{ n: 1 }] },
      { from: 3, chunks: ['c'] },
    ])
    end(null)
  })

  test('is complete although nobody awaited the chunks', async () => {
    const { durably, store, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', (emit) => {
        for (let i = 0; i < 1000; i++) void emit(`${i} `.padEnd(10))
        return 'done'
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await textOf(store, id, 'text')).toBe(Array.from({ length: 1000 }, (_, i) => `${i} `.padEnd(10)).join(''))
  })

  test('ends with its function: later chunks and checkpoints are turned away, and harm nobody who does not look', async () => {
    const unhandled = unhandledRejections()
    const { begun, env, id, store, durably, end } = await streaming(world)
    const { emit, checkpoint } = await begun
    await emit('a')
    end('value')
    await env.idle()
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: { value: 'value' } })
    const before = await store.events.list(id)
    void emit('late')
    void checkpoint('late')
    await expect(emit('late')).rejects.toMatchObject({ code: 'context_closed' })
    await expect(checkpoint('late')).rejects.toMatchObject({ code: 'context_closed' })
    await env.advance(1000)
    expect(await store.events.list(id)).toEqual(before)
    expect(unhandled).toEqual([])
  })

  test('that cannot be stored is refused where it is put out; what came before stays', async () => {
    const { begun, env, id, store, durably, end } = await streaming(world)
    const { emit, checkpoint } = await begun
    await emit('good')
    const error = await emit({ bad: () => {} }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'value_not_serializable', message: expect.stringContaining('a chunk of stream "text".bad') })
    await expect(checkpoint(Symbol('no'))).rejects.toMatchObject({ code: 'value_not_serializable' })
    await emit(' too')
    end(error)
    await env.idle()
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('is a function') })
    expect(await viewOf(store, id)).toMatchObject({ status: 'failed', streams: { text: { text: 'good too', isDone: false } } })
  })

  test('that grows beyond what a value may be fails its step; what was written stays readable', async () => {
    const { begun, env, id, store, durably, end } = await streaming(world, { maxValueBytes: 1000 })
    const { emit } = await begun
    for (const text of ['a', 'b', 'c']) {
      await emit(text.repeat(400))
      await env.advance(50)
    }
    end(null)
    await env.idle()
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'value_too_large', message: expect.stringContaining('the output of stream "text"') },
    })
    expect(await textOf(store, id, 'text')).toHaveLength(1200)
  })

  test('slows its source down when the store is slow', async () => {
    const { begun, env, faults, id, store, end } = await streaming(world)
    const { emit } = await begun
    const release = faults.hold('apply.heartbeat')
    const block = { text: 'x'.repeat(8000) }
    let put = 0
    const source = (async () => {
      while (put < 100) {
        await emit(block)
        put++
      }
    })()
    await env.advance(1000)
    expect(put).toBeLessThanOrEqual(12)
    release()
    await env.advance(1000)
    await source
    end(null)
    await env.idle()
    expect((await viewOf(store, id)).streams.text?.chunks).toHaveLength(100)
  })
})

describe.each(WORLDS)('a stream as a step on %s', (world) => {
  test('returns its value once; a replay returns the recorded one and puts out nothing', async () => {
    const { durably, store, soon } = await setup(world)
    let ran = 0
    let fails = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const value = await ctx.stream('text', async (emit) => {
        ran++
        await emit('once')
        return { at: new Date(0) }
      })
      if (fails) throw new Error('later')
      return value
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    fails = false
    const heard = listenTo(durably)
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    expect(ran).toBe(1)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: { at: new Date(0) } })
    expect(typesOf(heard)).toEqual(['run:retry', 'run:start', 'run:complete'])
    expect(await countOf(store, id, 'stream:chunk')).toBe(1)
    expect(await textOf(store, id, 'text')).toBe('once')
  })

  test('with retry goes on from its checkpoint after the delay, in the same attempt of its job', async () => {
    const { durably, env, store, soon } = await setup(world)
    const attempts: unknown[] = []
    const policy = retry.fixed({ maxAttempts: 3, delay: 60_000 })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', { retry: policy }, async (emit, checkpoint, { attempt }) => {
        attempts.push([ctx.attempt, attempt, checkpoint.state])
        await emit(`kept ${attempt} `)
        await checkpoint(attempt)
        await emit(attempt < 3 ? `lost ${attempt} ` : 'end')
        if (attempt < 3) throw new Error('overloaded')
        return 'done'
      }),
    )
    const { id } = await soon(job.trigger(null))
    durably.start()
    await env.advance(30_000)
    expect(attempts).toEqual([[1, 1, undefined]])
    expect(await soon(durably.getRun(id))).toMatchObject({
      phase: 'sleeping',
      waitingFor: { kind: 'step retry', step: 'text' },
      attempts: 0,
    })
    await env.advance(120_000)
    expect(attempts).toEqual([
      [1, 1, undefined],
      [1, 2, 1],
      [1, 3, 2],
    ])
    expect(await soon(durably.getRun(id))).toMatchObject({ status: 'completed', output: 'done' })
    expect(await textOf(store, id, 'text')).toBe('kept 1 kept 2 kept 3 end')
  })

  test('with timeout fails when an attempt takes too long, is tried again, and a deaf source adds nothing more', async () => {
    const { durably, env, store, soon } = await setup(world)
    const reasons: unknown[] = []
    const late = gate<Emit>()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', { timeout: '5s', retry: retry.fixed({ maxAttempts: 2, delay: 0 }) }, async (emit, _, { attempt, signal }) => {
        await emit(`attempt ${attempt}`)
        if (attempt === 2) return attempt
        late.open(emit)
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        return new Promise<number>(() => {})
      }),
    )
    const { id } = await soon(job.trigger(null))
    durably.start()
    await env.advance(10_000)
    expect(reasons).toMatchObject([{ code: 'timeout', message: 'step "text" took longer than 5s' }])
    const emit = await late.opened
    await expect(emit('too late')).rejects.toThrow()
    expect(await soon(durably.getRun(id))).toMatchObject({ status: 'completed', output: 2 })
    expect(await textOf(store, id, 'text')).toBe('attempt 2')
    expect((await soon(durably.getSteps(id))).map(({ status, failure }) => [status, failure?.code])).toEqual([
      ['failed', 'timeout'],
      ['completed', undefined],
    ])
  })

  test('takes no other option, and is refused before its function is called', async () => {
    const { durably, soon } = await setup(world)
    let calls = 0
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', { effect: 'once' } as never, () => {
        calls++
        return null
      }),
    )
    const { id } = await soon(job.trigger(null))
    await soon(durably.processUntilIdle())
    expect(await soon(durably.getRun(id))).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_argument' },
      error: expect.stringMatching(/ctx.stream.*"effect"/),
    })
    expect(calls).toBe(0)
  })

  test('shares its names with all other steps, and needs a function', async () => {
    const { durably, soon } = await setup(world)
    const codes: unknown[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const code = (error: unknown) => void codes.push((error as DurablyError).code)
      await ctx.run('a', () => {})
      await ctx.stream('a', () => {}).catch(code)
      await ctx.stream('b', () => {})
      await ctx.run('b', () => {}).catch(code)
      await ctx.stream('c', undefined as never).catch(code)
      await ctx.stream('', () => {}).catch(code)
    })
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(codes).toEqual(['duplicate_step', 'duplicate_step', 'invalid_argument', 'invalid_name'])
  })

  test('is seen by plugins that stand around steps, and its chunks are not copied into the logs', async () => {
    const { durably, soon } = await setup(world)
    const wrapped: string[] = []
    durably.use(withLogPersistence()).use({
      name: 'around',
      install: (host) =>
        host.wrapStep(async ({ stepName }, next) => {
          wrapped.push(stepName)
          return `${await next()} wrapped`
        }),
    })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', async (emit, _, { log }) => {
        await emit('chunk')
        log.info('a line')
        return 'value'
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await soon(durably.stop())
    expect(wrapped).toEqual(['text'])
    expect(await durably.getRun(id)).toMatchObject({ output: 'value wrapped' })
    const lines = await durably.getLogs(id)
    expect(lines.map(({ message }) => message)).toEqual([
      'run:trigger',
      'run:start',
      'step:start',
      'a line',
      'step:complete',
      'run:complete',
    ])
    expect(lines[3]).toMatchObject({ stepName: 'text' })
  })

  test('runs beside other streams and steps; each ends as one row with its own text', async () => {
    const { durably, store, env, within } = await setup(world)
    const tick = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const streams = [7, 11, 13].map((ms) =>
        ctx.stream(`every ${ms}`, async (emit) => {
          for (let i = 0; i < 40; i++) {
            await emit(`${ms}.${i} `)
            await tick(ms)
          }
          return ms
        }),
      )
      const steps = Array.from({ length: 20 }, (_, i) => ctx.run(`step ${i}`, () => tick(i * 17)))
      await Promise.all(steps)
      return Promise.all(streams)
    })
    const { id } = await job.trigger(null)
    await within(2000, durably.processUntilIdle())
    const { status, output, streams } = await viewOf(store, id)
    expect({ status, output }).toEqual({ status: 'completed', output: [7, 11, 13] })
    for (const ms of [7, 11, 13]) {
      expect(streams[`every ${ms}`]).toMatchObject({ isDone: true, text: Array.from({ length: 40 }, (_, i) => `${ms}.${i} `).join('') })
      expect(await countOf(store, id, 'stream:chunk', `every ${ms}`)).toBe(1)
    }
  })

  test('its record and its whole text are one write, also when other writes wait before it', async () => {
    const { wrap, faults } = faulty()
    const { durably, store, env } = await setup(world, { wrap })
    const [endA, endB] = [gate(), gate()]
    const tick = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const a = ctx.stream('a', async (emit) => {
        await emit('a1')
        await endA.opened
        await emit('a2')
      })
      const b = ctx.stream('b', async (emit) => {
        await tick(60)
        await emit('b1')
        await endB.opened
      })
      await Promise.all([a, b, ctx.run('other', () => tick(100))])
    })
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(90)
    // The record of the step is under way and the chunk of b waits behind it, when a ends.
    const release = faults.hold('apply.recordStep')
    await env.advance(40)
    endA.open()
    await env.idle()
    const releaseFlush = faults.hold('apply.heartbeat')
    release()
    await env.idle()
    releaseFlush()
    const releaseRecord = faults.hold('apply.recordStep')
    await env.idle()
    expect(await viewOf(store, id)).toMatchObject({ streams: { a: { text: 'a1', isDone: false }, b: { text: 'b1' } } })
    expect((await store.runs.get(id))?.streams).toContain('\\"a\\"')
    releaseRecord()
    await env.idle()
    expect(await viewOf(store, id)).toMatchObject({ streams: { a: { text: 'a1a2', isDone: true }, b: { text: 'b1', isDone: false } } })
    endB.open()
    await env.idle()
    const { status, streams } = await viewOf(store, id)
    expect(status).toBe('completed')
    expect(streams).toMatchObject({ a: { text: 'a1a2', isDone: true }, b: { text: 'b1', isDone: true } })
    expect(await countOf(store, id, 'stream:chunk')).toBe(2)
  })

  test('a chunk that the database rejects fails that step, and nothing else', async () => {
    const { wrap, faults } = faulty()
    const { durably, store, env, within } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const failed = await ctx
        .stream('bad', async (emit) => {
          await emit('poison')
          await new Promise<void>((resolve) => void env.timer(60, resolve))
          await emit('more')
        })
        .catch((error: unknown) => (error as DurablyError).code)
      const good = await ctx.stream('good', async (emit) => {
        await emit('good')
        return 'good'
      })
      return [failed, good]
    })
    faults.fail('apply.heartbeat', { when: 'before', error: new DurablyError('store_rejected', 'no poison here') })
    const { id } = await job.trigger(null)
    await within(1000, durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: ['store_rejected', 'good'] })
    expect((await durably.getSteps(id)).map(({ name, status }) => `${name} ${status}`)).toEqual(['bad failed', 'good completed'])
    expect((await viewOf(store, id)).streams).toMatchObject({ good: { text: 'good', isDone: true } })
  })

  test('a step that the database rejects takes no chunk and no checkpoint of a stream beside it along', async () => {
    const { wrap, faults } = faulty()
    const { durably, store, env, within } = await setup(world, { wrap })
    const states: unknown[] = []
    const tick = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
    let dies = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const bad = ['bad', 'worse'].map((name) => ctx.run(name, () => 'poison').catch(() => {}))
      const text = ctx.stream('text', async (emit, checkpoint) => {
        states.push(checkpoint.state)
        if (checkpoint.state === undefined) {
          await tick(10)
          await emit('kept ')
          await checkpoint('state')
        }
        await emit('end')
        await tick(60)
        if (dies) throw new Error('dies')
      })
      await Promise.all(bad)
      await text
    })
    faults.fail('apply.recordStep', { when: 'before', times: 2, error: new DurablyError('store_rejected', 'no poison here') })
    // The first record is under way and the second waits behind it, when the stream asks for its checkpoint.
    const release = faults.hold('apply.recordStep')
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(100)
    release()
    await env.advance(100)
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed' })
    expect(await textOf(store, id, 'text')).toBe('kept end')
    dies = false
    await durably.retry(id)
    await within(1000, durably.processUntilIdle())
    expect(states).toEqual([undefined, 'state'])
    expect(await textOf(store, id, 'text')).toBe('kept end')
  })
})

/** How an attempt ends in the middle, so that another one goes on. */
const INTERRUPTIONS = ['it throws and is retried', 'its worker is killed', 'its worker stops'] as const

describe.each(WORLDS)('checkpoints on %s', (world) => {
  test.each(INTERRUPTIONS)('when %s, the next attempt goes on from the last one, and nothing stands there twice', async (interruption) => {
    const { begun, env, id, store, durably, faults, end, another, within } = await streaming(world)
    const { emit, checkpoint, state } = await begun
    expect(state).toBeUndefined()
    await emit('one ')
    await checkpoint({ at: new Date(1) })
    await emit('two ')
    await checkpoint({ at: new Date(2) })
    await emit('lost')
    await env.advance(50)
    expect(await viewOf(store, id)).toMatchObject({ streams: { text: { text: 'one two lost', state: { at: new Date(2) } } } })
    if (interruption === 'its worker stops') await within(1000, durably.stop({ timeout: 1 }))
    if (interruption === 'its worker is killed') faults.die()
    if (interruption === 'it throws and is retried') {
      end(new Error('dies'))
      await within(1000, durably.stop())
    }

    const heir = another()
    const heard = listenTo(heir)
    const next = defineMoves(heir)
    heir.start()
    if (interruption === 'it throws and is retried') await heir.retry(id)
    const hands = await within(35_000, next.begun)
    expect(hands.state).toEqual({ at: new Date(2) })
    expect(await viewOf(store, id)).toMatchObject({
      status: 'running',
      streams: { text: { text: 'one two ', state: { at: new Date(2) } } },
    })
    await hands.emit('three')
    await env.advance(50)
    expect(await textOf(store, id, 'text')).toBe('one two three')
    next.end('value')
    await env.idle()
    expect(await viewOf(store, id)).toMatchObject({ status: 'completed', streams: { text: { text: 'one two three', isDone: true } } })
    expect(ofType(heard, 'stream:reset')).toMatchObject([{ runId: id, jobName: 'job', stepName: 'text', to: 8 }])
    expect(ofType(heard, 'stream:chunk')).toMatchObject([{ from: 8, chunks: ['three'] }])
    expect(await countOf(store, id, 'stream:chunk')).toBe(1)
    expect(await countOf(store, id, 'stream:reset')).toBe(0)
    expect(JSON.parse((await store.runs.get(id))?.streams ?? '[]')).toEqual([])
  })

  test('without one, everything is taken back in the moment the next attempt begins', async () => {
    const { begun, env, id, store, faults, another, within } = await streaming(world)
    const { emit } = await begun
    await emit('all of it')
    await env.advance(50)
    faults.die()
    await env.advance(29_000)
    expect(await textOf(store, id, 'text')).toBe('all of it')
    const heir = another()
    const next = defineMoves(heir)
    heir.start()
    expect(await within(35_000, next.begun)).toMatchObject({ state: undefined })
    expect(typesOf(await logOf(store, id)).slice(-3)).toEqual(['run:reclaim', 'run:start', 'stream:reset'])
    expect(await textOf(store, id, 'text')).toBe('')
    next.end(null)
  })

  test('after many attempts, each of which got a little further, the text is there once, in one row', async () => {
    const here = await setup(world)
    const { durably, store, env, another, within } = here
    const job = defineMoves(durably).job
    const { id } = await job.trigger(null)
    const words = ['the ', 'quick ', 'brown ', 'fox ', 'jumps']
    for (const [i, word] of words.entries()) {
      const { wrap, faults } = faulty()
      const mortal = another({ wrap })
      const { begun, end } = defineMoves(mortal)
      mortal.start()
      const { emit, checkpoint, state } = await within(35_000, begun)
      expect(state).toBe(i === 0 ? undefined : i - 1)
      await emit(word)
      if (i === words.length - 1) end('value')
      else {
        await checkpoint(i)
        await emit('lost')
        await env.advance(60)
        faults.die()
      }
    }
    await env.advance(100)
    expect(await viewOf(store, id)).toMatchObject({
      status: 'completed',
      streams: { text: { text: words.join(''), state: 3, isDone: true } },
    })
    expect(await countOf(store, id, 'stream:chunk')).toBe(1)
    expect(await countOf(store, id, 'stream:reset')).toBe(0)
  })

  test('is one commit with everything that was put out before it', async () => {
    const { begun, env, flushes, store, id, end } = await streaming(world)
    const { emit, checkpoint } = await begun
    await emit('a')
    const made = checkpoint('s')
    await env.idle()
    await made
    expect(flushes()).toBe(1)
    expect((await logOf(store, id)).at(-1)).toMatchObject({ type: 'stream:chunk', chunks: ['a'], checkpoint: { state: 's' } })
    await env.advance(1000)
    expect(flushes()).toBe(1)
    end(null)
  })

  test('keeps what came before it, not what came while it was written', async () => {
    const { begun, env, id, store, faults, another, within } = await streaming(world)
    const { emit, checkpoint } = await begun
    const release = faults.hold('apply.heartbeat')
    await emit('slow ')
    await env.advance(50)
    await emit('before ')
    const made = checkpoint('state')
    await emit('after')
    release()
    await within(100, made)
    await env.advance(60)
    expect(await textOf(store, id, 'text')).toBe('slow before after')
    faults.die()
    const heir = another()
    const next = defineMoves(heir)
    heir.start()
    expect(await within(35_000, next.begun)).toMatchObject({ state: 'state' })
    expect(await textOf(store, id, 'text')).toBe('slow before ')
    next.end(null)
  })

  test('may be the first thing: its state is seen beside the text that follows', async () => {
    const { begun, env, id, store, faults, another, within } = await streaming(world)
    const { emit, checkpoint } = await begun
    await within(100, checkpoint({ cursor: 'c' }))
    await emit('text')
    await env.advance(50)
    expect(await viewOf(store, id)).toMatchObject({ streams: { text: { text: 'text', state: { cursor: 'c' } } } })
    faults.die()
    const heir = another()
    const next = defineMoves(heir)
    heir.start()
    const hands = await within(35_000, next.begun)
    expect(hands.state).toEqual({ cursor: 'c' })
    await hands.emit('again')
    await env.advance(50)
    expect(await viewOf(store, id)).toMatchObject({ streams: { text: { text: 'again', state: { cursor: 'c' } } } })
    next.end(null)
  })

  test('that is not awaited is made before the step is recorded, and resolves', async () => {
    const { durably, store, env, soon } = await setup(world)
    const made: string[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', async (emit, checkpoint) => {
        await emit('x'.repeat(5000))
        void checkpoint(1).then(
          () => made.push('one'),
          (error) => made.push(String(error)),
        )
        void checkpoint(2).then(() => made.push('two'))
      }),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await env.idle()
    expect(made).toEqual(['one', 'two'])
    expect((await viewOf(store, id)).streams.text).toMatchObject({ state: 2, isDone: true })
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns what cannot be stored', () => Symbol('no value')],
  ])('one that waits when the function %s is rejected, and not made after the failure', async (_, ending) => {
    const { durably, store, env } = await setup(world)
    const made: number[] = []
    const given: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything, retry: retry.fixed({ maxAttempts: 2 }) }, (ctx) =>
      ctx.stream<unknown, number>('text', async (emit, checkpoint) => {
        given.push(checkpoint.state ?? 0)
        if (given.length === 2) return 'done'
        for (const part of [1, 2, 3, 4]) {
          emit(`${part} `)
          checkpoint(part).then(
            () => made.push(part),
            () => {},
          )
        }
        return ending()
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(2000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(given[1]).toBeGreaterThanOrEqual(Math.max(0, ...made))
    const types = (await logOf(store, id)).map(({ type }) => type)
    expect(types.slice(types.indexOf('step:fail'), types.lastIndexOf('run:start'))).not.toContain('stream:chunk')
  })

  test('a checkpoint that the database rejects is not made: the next attempt goes on from the one before', async () => {
    const { wrap, faults } = faulty()
    const { durably, store, env, within } = await setup(world, { wrap })
    const states: unknown[] = []
    const refused: unknown[] = []
    let dies = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const first = ctx.stream('text', async (emit, checkpoint) => {
        states.push(checkpoint.state)
        if (checkpoint.state === undefined) {
          await emit('one ')
          await checkpoint(1)
        }
        await emit('two ')
        if (!dies) return
        faults.fail('apply.heartbeat', { when: 'before', error: new DurablyError('store_rejected', 'no') })
        const release = faults.hold('apply.heartbeat')
        void env.timer(10, release)
        const made = checkpoint(2)
        await Promise.resolve().then(() => Promise.resolve())
        await emit('behind it')
        await made.catch((error: unknown) => {
          refused.push(error)
          throw error
        })
      })
      await first.catch(() => {})
      // What it writes about open streams is about all of them.
      await ctx.stream('other', async (emit, checkpoint) => {
        await emit('other')
        await checkpoint('other')
        if (dies) throw new Error('dies')
      })
    })
    const { id } = await job.trigger(null)
    await within(1000, durably.processUntilIdle())
    expect(refused).toMatchObject([{ code: 'store_rejected' }])
    expect(await viewOf(store, id)).toMatchObject({ status: 'failed', streams: { text: { text: 'one ', state: 1 } } })
    dies = false
    await durably.retry(id)
    await within(1000, durably.processUntilIdle())
    expect(states).toEqual([undefined, 1])
    expect(await viewOf(store, id)).toMatchObject({ status: 'completed', streams: { text: { text: 'one two ', isDone: true } } })
  })

  test('a record that the database rejects leaves the last checkpoint as it was', async () => {
    const { begun, env, id, store, faults, end, within } = await streaming(world)
    const { emit, checkpoint } = await begun
    await emit('one ')
    await within(10, checkpoint(1))
    await emit('two')
    faults.fail('apply.recordStep', { when: 'before', error: new DurablyError('store_rejected', 'no') })
    end('value')
    await env.advance(100)
    expect(await viewOf(store, id)).toMatchObject({ status: 'failed', streams: { text: { text: 'one two', state: 1, isDone: false } } })
    expect((await store.runs.get(id))?.streams).toContain('"to\\":4')
  })
})

describe.each(WORLDS)('a record that the database rejects on %s', (world) => {
  const spoiled: [string, 'streams' | 'effects', (ctx: JobContext, name: string, later: Promise<void>) => Promise<unknown>][] = [
    [
      'the checkpoint of a stream',
      'streams',
      (ctx, name, later) =>
        ctx.stream(name, async (emit, checkpoint) => {
          await emit('one')
          await checkpoint('state')
          await later
        }),
    ],
    [
      'an effect that has begun',
      'effects',
      (ctx, name, later) => ctx.run(name, { effect: 'once', reconcile: () => 'run again' as const }, () => later),
    ],
  ]

  test.each(spoiled)('does not take %s with it: the write behind it keeps that', async (_, column, call) => {
    const { wrap, faults } = faulty()
    const writes: OwnerWrite[] = []
    const { durably, env } = await setup(world, {
      wrap: (store) => {
        const watched = wrap(store)
        const apply: Store['runs']['apply'] = (asked) => {
          writes.push(...asked)
          return watched.runs.apply(asked)
        }
        return { ...watched, runs: { ...watched.runs, apply } }
      },
    })
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const later = new Promise<void>((resolve) => env.timer(100, resolve))
      await Promise.allSettled([call(ctx, 'spoiled', Promise.resolve()), call(ctx, 'behind', later)])
    })
    faults.fail('apply.recordStep', { when: 'before', error: new DurablyError('store_rejected', 'no') })
    const release = faults.hold('apply.recordStep')
    await job.trigger(null)
    durably.start()
    await env.advance(200)
    release()
    await env.advance(100)
    const records = writes.filter(({ verb }) => verb.type === 'recordStep')
    expect(records.map(({ verb }) => verb.type === 'recordStep' && verb.step.name)).toEqual(['spoiled', 'behind', 'spoiled'])
    expect(records[1]?.[column]).toContain('spoiled')
  })
})

describe.each(WORLDS)('a stream that is interrupted on %s', (world) => {
  test('one that returned in time is recorded, even if the time of its run is over while its output is written', async () => {
    const { wrap, faults } = faulty()
    const { durably, env } = await setup(world, { wrap })
    let calls = 0
    const policy = { timeout: 1000, retry: retry.fixed({ maxAttempts: 2, delay: 0 }) }
    const job = durably.defineJob({ name: 'job', input: anything, ...policy }, async (ctx) => {
      const output = await ctx.stream('text', async (emit) => {
        await emit('answer')
        // Until its output is on the way.
        await new Promise<void>((resolve) => env.timer(100, resolve))
        return ++calls
      })
      if (ctx.attempt === 1) await new Promise(() => {})
      return output
    })
    const release = faults.hold('apply.heartbeat')
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(5000)
    release()
    await env.advance(5000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1, attempts: 1 })
    expect(calls).toBe(1)
  })

  test.each(['here', 'elsewhere'])('a cancel from %s leaves everything readable that was put out before', async (where) => {
    const { begun, env, id, store, durably, another } = await streaming(world)
    const { emit } = await begun
    await emit('written ')
    await env.advance(50)
    await emit('just before')
    await (where === 'here' ? durably : another()).cancel(id)
    await env.advance(where === 'here' ? 0 : 6000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' })
    expect(await viewOf(store, id)).toMatchObject({
      status: 'cancelled',
      streams: { text: { text: 'written just before', isDone: false } },
    })
    await expect(emit('after')).rejects.toMatchObject({ code: 'cancel_requested' })
  })

  test.each(['cancel', 'stop'] as const)(
    'a function that returns although it was told to stop by %s has ended well: its step is recorded',
    async (by) => {
      const { durably, store, env, within } = await setup(world)
      const [begun, end] = [gate(), gate()]
      let ran = 0
      const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.stream('text', async (emit) => {
          ran++
          await emit('all of it')
          begun.open()
          await end.opened
        })
        await ctx.run('next', () => {})
      })
      const { id } = await job.trigger(null)
      durably.start()
      await within(100, begun.opened)
      const told: Promise<unknown> = by === 'cancel' ? durably.cancel(id) : durably.stop({ timeout: 0 })
      await env.advance(10)
      end.open()
      await within(1000, told)
      await env.idle()
      expect(await viewOf(store, id)).toMatchObject({
        ...{ status: by === 'cancel' ? 'cancelled' : 'pending', streams: { text: { text: 'all of it', isDone: true } } },
      })
      expect(await countOf(store, id, 'step:complete')).toBe(1)
      await within(1000, durably.processUntilIdle())
      expect(ran).toBe(1)
    },
  )

  test('but not when chunks were turned away meanwhile: they would be missing', async () => {
    const { durably, store, env, within } = await setup(world)
    const told = gate()
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', async (emit) => {
        void emit('before ')
        await told.opened
        void emit('after')
      }),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.idle()
    await durably.cancel(id)
    told.open()
    await within(1000, durably.stop())
    expect(await viewOf(store, id)).toMatchObject({ status: 'cancelled', streams: { text: { text: 'before ', isDone: false } } })
  })

  test('what a worker puts out after it lost its lease never appears', async () => {
    const here = await setup(world)
    const { env, durably, another, store, within } = here
    const process = freezable(env)
    const { wrap, faults } = faulty()
    const zombie = another({ env: process, wrap })
    const first = defineMoves(zombie)
    const { id } = await first.job.trigger(null)
    zombie.start()
    const hands = await within(100, first.begun)
    await hands.emit('kept ')
    await within(100, hands.checkpoint('kept'))
    await hands.emit('zombie 1 ')
    process.freeze()
    const second = defineMoves(durably)
    durably.start()
    const { emit, state } = await within(35_000, second.begun)
    expect(state).toBe('kept')
    await emit('heir ')
    await env.advance(50)
    const release = faults.hold('apply.heartbeat')
    process.thaw()
    void hands.emit('zombie 2 '.repeat(1000))
    const refused = hands.checkpoint('zombie').catch((error: unknown) => error)
    await env.idle()
    void hands.emit('zombie 3 '.repeat(1000))
    release()
    await env.advance(200)
    expect(await refused).toMatchObject({ code: 'lease_lost' })
    await expect(hands.emit('zombie 4')).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await viewOf(store, id)).toMatchObject({ streams: { text: { text: 'kept heir ', state: 'kept' } } })
    second.end('by the heir')
    first.end('by the zombie')
    await env.advance(200)
    expect(await viewOf(store, id)).toMatchObject({ output: { value: 'by the heir' }, streams: { text: { text: 'kept heir ' } } })
  })

  test('a source that does not hear that its run is lost holds nobody up', async () => {
    const { env, durably, another, within } = await setup(world)
    const process = freezable(env)
    const { wrap, faults } = faulty()
    const zombie = another({ env: process, wrap })
    const [begun, end] = [gate<Emit>(), gate()]
    const deaf = zombie.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.stream('text', async (emit) => {
        begun.open(emit)
        await end.opened
      }),
    )
    const { id } = await deaf.trigger(null)
    zombie.start()
    const emit = await within(100, begun.opened)
    process.freeze()
    durably.defineJob({ name: 'job', input: anything }, async () => 'by the heir')
    durably.start()
    await env.advance(33_000)
    const release = faults.hold('apply.heartbeat')
    process.thaw()
    void emit('x'.repeat(5000))
    await env.idle()
    void emit('y'.repeat(5000))
    release()
    await env.advance(1000)
    end.open()
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'by the heir' })
  })

  test.each(['before', 'after'] as const)('a store that fails %s the effect of a flush costs and doubles nothing', async (when) => {
    const { begun, env, id, store, faults, end } = await streaming(world)
    const { emit, checkpoint } = await begun
    faults.fail('apply.heartbeat', { when, times: 3 })
    await emit('a')
    const made = checkpoint(1)
    await env.advance(1000)
    await made
    faults.fail('apply.recordStep', { when, times: 3 })
    await emit('b')
    end('value')
    await env.advance(1000)
    expect(await viewOf(store, id)).toMatchObject({ status: 'completed', streams: { text: { text: 'ab', state: 1, isDone: true } } })
    expect(await countOf(store, id, 'stream:chunk')).toBe(1)
  })

  test('a store that is away while the next attempt reads what is kept is waited for', async () => {
    const { begun, env, id, store, durably, faults, another, within } = await streaming(world)
    const { emit, checkpoint } = await begun
    await emit('kept ')
    await within(100, checkpoint(1))
    await within(1000, durably.stop({ timeout: 1 }))
    faults.heal()
    const flaky = faulty()
    flaky.faults.fail('events.list', { when: 'before', times: 5 })
    const heir = another({ wrap: flaky.wrap })
    const next = defineMoves(heir)
    heir.start()
    const hands = await within(20_000, next.begun)
    await hands.emit('more')
    next.end(null)
    await env.advance(100)
    expect(await textOf(store, id, 'text')).toBe('kept more')
  })
})

test.each(WORLDS)('without an event log on %s streams work and checkpoints resume; there is only nothing to read', async (world) => {
  const { begun, env, id, store, durably, end, another, within } = await streaming(world, { eventLog: false })
  const heard = listenTo(durably)
  const { emit, checkpoint } = await begun
  await emit('one ')
  await within(100, checkpoint('state'))
  await emit('two')
  await within(1000, durably.stop({ timeout: 1 }))
  expect(ofType(heard, 'stream:chunk').map(({ chunks }) => chunks)).toEqual([['one '], ['two']])

  const heir = another()
  const next = defineMoves(heir)
  heir.start()
  const hands = await within(1000, next.begun)
  expect(hands.state).toBe('state')
  await hands.emit('three')
  end(null)
  next.end('value')
  await env.idle()
  expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: { value: 'value' } })
  expect(await store.events.list(id)).toEqual([])
})
