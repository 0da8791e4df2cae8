// The reducer on logs that the engine itself has written: by attempts that throw, are given back or die in the middle of two
// streams, until one gets through. The log is looked at every few milliseconds, so that a reader may have seen any of it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../durably.ts'
import { fullEvents } from '../events/full-event.ts'
import { joinChunks } from '../model/chunks.ts'
import { jsonCodec } from '../model/codec.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { Checkpoint, Emit } from '../model/job.ts'
import { isTerminal } from '../model/run.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import type { RunStore } from '../store/runs.ts'
import type { Store } from '../store/store.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { emptyRunView, type RunView, reduceRun } from './run-view.ts'

const codec = jsonCodec()
const base = { timestamp: '', runId: 'r', jobName: 'j' }

function reduceAll(events: readonly RunLogEvent[], view: RunView = emptyRunView): RunView {
  return events.reduce(reduceRun, view)
}

/** One thing that a stream does, after a pause. */
interface Move {
  afterMs: number
  does: { put: unknown } | 'checkpoint'
}

interface Attempt {
  /** Of both streams. */
  moves: readonly [Move[], Move[]]
  /** What becomes of the worker, and when; an attempt that is not interrupted throws when its first stream is through. */
  interrupted: { by: 'kill' | 'stop'; afterMs: number } | null
}

interface Program {
  attempts: Attempt[]
  last: Attempt['moves']
}

const STREAMS = ['a', 'constructor'] as const

interface Played {
  /** The log as it stood at each look. */
  looks: RunLogEvent[][]
  /** What each stream should have said in the end. */
  expected: Map<string, unknown[]>
}

async function play({ attempts, last }: Program): Promise<Played> {
  const env = virtualEnv()
  const store = memoryStore({ env })
  const plans = [...attempts, { moves: last, interrupted: null }]
  const outputs = new Outputs()
  const looks: RunLogEvent[][] = []
  const open = (kept: Store) => {
    const durably = createDurably({ env, store: kept, staleThreshold: 300, pollingInterval: 50, maxRecoveries: Number.POSITIVE_INFINITY })
    const job = durably.defineJob({ name: 'job', input: z.null() }, async (ctx) => {
      const plan = plans.shift()
      const streams = STREAMS.map((name, i) =>
        ctx.stream<void, number>(name, async (emit, checkpoint) => {
          const output = outputs.begin(name, checkpoint)
          for (const { afterMs, does } of plan?.moves[i] ?? []) {
            await new Promise<void>((resolve) => void env.timer(afterMs, resolve))
            await output.move(does, emit, checkpoint)
          }
          if (i === 0 && plans.length > 0) throw new Error('not yet')
        }),
      )
      await Promise.all(streams)
    })
    return { durably, job }
  }
  const { id } = await open(store).job.trigger(null)
  const look = async () => looks.push(await fullLog(store, id))
  for (const attempt of plans.slice()) {
    const { kept, die } = mortal(store)
    const { durably } = open(kept)
    const until = env.mono() + (attempt.interrupted?.afterMs ?? 5000)
    if ((await store.runs.get(id))?.status === 'failed') await store.runs.retry(id)
    durably.start()
    do {
      await env.advance(10)
      await look()
    } while (env.mono() < until && !isTerminal((await store.runs.get(id))?.status ?? 'failed'))
    const stopped = attempt.interrupted?.by === 'kill' ? die() : durably.stop({ timeout: 0 })
    await env.advance(600)
    await stopped
    await look()
  }
  return { looks, expected: outputs.last }
}

/** What the streams put out, as a model: every attempt goes on from the checkpoint that it was given. */
class Outputs {
  readonly last = new Map<string, unknown[]>()
  readonly #kept: unknown[][] = []

  begin(name: string, { state }: Checkpoint<number>) {
    let chunks = state === undefined ? [] : (this.#kept[state] ?? [])
    this.last.set(name, chunks)
    const move = async (does: Move['does'], emit: Emit, checkpoint: Checkpoint<number>): Promise<void> => {
      if (does === 'checkpoint') return checkpoint(this.#kept.push(chunks) - 1)
      chunks = joinChunks(chunks, [does.put])
      this.last.set(name, chunks)
      await emit(does.put)
    }
    return { move }
  }
}

/** A store that can be cut off. */
function mortal(store: Store) {
  let isDead = false
  const runs = new Proxy(store.runs, {
    get: (target, verb) => {
      const call = Reflect.get(target, verb) as (request: unknown) => Promise<unknown>
      return (request: unknown) => (isDead ? new Promise(() => {}) : call(request))
    },
  }) satisfies RunStore
  const die = () => {
    isDead = true
  }
  return { kept: { ...store, runs }, die }
}

async function fullLog(store: Store, id: string): Promise<RunLogEvent[]> {
  const rows = await store.events.list(id)
  const run = await store.runs.get(id)
  return run ? fullEvents({ store, codec }, run, rows) : []
}

const move: fc.Arbitrary<Move> = fc.record({
  afterMs: fc.constantFrom(0, 0, 7, 30, 60),
  does: fc.oneof(
    { weight: 4, arbitrary: fc.record({ put: fc.string({ maxLength: 5, unit: 'binary' }) }) },
    { weight: 1, arbitrary: fc.record({ put: fc.constantFrom<unknown>(0, null, undefined, new Date(0), ['nested']) }) },
    { weight: 2, arbitrary: fc.constant('checkpoint' as const) },
  ),
})
const moves = fc.tuple(fc.array(move, { maxLength: 8 }), fc.array(move, { maxLength: 8 }))
const interrupted = fc.option(fc.record({ by: fc.constantFrom('kill' as const, 'stop' as const), afterMs: fc.nat(200) }))
const program: fc.Arbitrary<Program> = fc.record({ attempts: fc.array(fc.record({ moves, interrupted }), { maxLength: 3 }), last: moves })
/** Which looks a reader takes, how far it gets in each, and how much it then reads again. */
const cuts = fc.array(fc.record({ look: fc.nat(), reads: fc.nat(12), again: fc.nat(6) }), { maxLength: 12 })

describe('the view of a run', () => {
  test('is the same for a reader of the whole log and for one whose connection broke at any place, any number of times', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(program, cuts, async (program, cuts) => {
        const { looks, expected } = await play(program)
        const end = reduceAll(looks.at(-1) ?? [])
        expect(end.status).toBe('completed')
        for (const [name, chunks] of expected) if (chunks.length > 0) expect(end.streams[name]).toMatchObject({ chunks, isDone: true })

        let patient = emptyRunView
        for (const look of looks) {
          patient = reduceAll(
            look.filter(({ sequence }) => sequence > patient.sequence),
            patient,
          )
          expect(patient).toEqual(reduceAll(look))
        }

        let view = emptyRunView
        const order = cuts.map((cut) => ({ ...cut, look: cut.look % looks.length })).sort((a, b) => a.look - b.look)
        for (const { look, reads, again } of [...order, { look: looks.length - 1, reads: Number.POSITIVE_INFINITY, again: 3 }]) {
          const { sequence } = view
          const read = (looks[look] ?? []).filter((event) => event.sequence > sequence).slice(0, reads)
          view = reduceAll(read, view)
          view = reduceAll(read.slice(-again), view)
        }
        expect(view).toEqual(end)
      }),
      { numRuns: 60 },
    )
  })

  test('follows a run through all its statuses', () => {
    const statuses: string[] = []
    let view = emptyRunView
    const events: RunLogEvent[] = [
      { ...base, sequence: 1, type: 'run:trigger', payload: null },
      { ...base, sequence: 2, type: 'run:start', payload: null, workerId: null },
      { ...base, sequence: 3, type: 'run:release' },
      { ...base, sequence: 4, type: 'run:start', payload: null, workerId: null },
      { ...base, sequence: 5, type: 'run:progress', progress: { current: 1 } },
      { ...base, sequence: 6, type: 'run:reclaim' },
      { ...base, sequence: 7, type: 'run:start', payload: null, workerId: null },
      { ...base, sequence: 8, type: 'run:fail', error: 'bad', failure: { name: 'Error', message: 'bad' }, failedStepName: '' },
      { ...base, sequence: 9, type: 'run:retry' },
      { ...base, sequence: 10, type: 'run:start', payload: null, workerId: null },
      { ...base, sequence: 11, type: 'run:complete', output: 1, duration: 0 },
    ]
    for (const event of events) {
      view = reduceRun(view, event)
      statuses.push(`${view.status}${view.error === null ? '' : ` ${view.error}`}`)
    }
    expect(statuses).toEqual([
      ...['pending', 'running', 'pending', 'running', 'running', 'pending', 'running', 'failed bad', 'pending', 'running', 'completed'],
    ])
    expect(view).toEqual({ sequence: 11, status: 'completed', progress: { current: 1 }, output: 1, error: null, streams: {} })
    expect(reduceRun(emptyRunView, { ...base, sequence: 1, type: 'run:cancel' }).status).toBe('cancelled')
  })

  test('is never changed, only replaced, and an event that was seen before gives the very same one', () => {
    const chunk: RunLogEvent = { ...base, sequence: 5, type: 'stream:chunk', stepName: 'a', from: 0, chunks: ['x'] }
    const before = Object.freeze(reduceRun(emptyRunView, chunk))
    expect(reduceRun(before, chunk)).toBe(before)
    expect(reduceRun(before, { ...chunk, sequence: 4, chunks: ['older'] })).toBe(before)
    const after = reduceRun(before, { ...chunk, sequence: 6, from: 1, chunks: ['y'] })
    expect([before.streams.a?.text, after.streams.a?.text]).toEqual(['x', 'xy'])
    expect(emptyRunView.streams).toEqual({})
  })

  test('a reset keeps as much as it says, a chunk replaces what stood from its beginning, and one from 0 replaces everything', () => {
    const entry = (
      sequence: number,
      event: { from: number; chunks: unknown[]; checkpoint?: { state: unknown } } | { to: number },
    ): RunLogEvent =>
      'to' in event
        ? { ...base, sequence, type: 'stream:reset', stepName: 'a', ...event }
        : { ...base, sequence, type: 'stream:chunk', stepName: 'a', ...event }
    const views: unknown[] = []
    let view = emptyRunView
    for (const event of [
      entry(1, { from: 0, chunks: ['ab', 1, 'cd'], checkpoint: { state: 's' } }),
      entry(2, { from: 5, chunks: ['lost'] }),
      entry(3, { to: 5 }),
      entry(4, { to: 4 }),
      entry(5, { from: 3, chunks: ['x'] }),
      entry(6, { from: 0, chunks: ['all'] }),
    ]) {
      view = reduceRun(view, event)
      views.push([view.streams.a?.chunks, view.streams.a?.state])
    }
    expect(views).toEqual([
      [['ab', 1, 'cd'], 's'],
      [['ab', 1, 'cdlost'], 's'],
      [['ab', 1, 'cd'], 's'],
      [['ab', 1, 'c'], 's'],
      [['ab', 1, 'x'], 's'],
      [['all'], undefined],
    ])
  })

  test.each(['toString', '__proto__', 'constructor'])('takes %s for a name like any other', (stepName) => {
    const complete: RunLogEvent = { ...base, sequence: 2, type: 'step:complete', stepName, stepIndex: 0, output: null, duration: 0 }
    expect(Object.keys(reduceRun(emptyRunView, complete).streams)).toEqual([])
    const view = reduceAll([{ ...base, sequence: 1, type: 'stream:chunk', stepName, from: 0, chunks: ['x'] }, complete])
    expect(Object.entries(view.streams)).toEqual([[stepName, { chunks: ['x'], text: 'x', state: undefined, isDone: true }]])
  })
})
