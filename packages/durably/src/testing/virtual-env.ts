// VirtualEnv — an Env whose time, ids and chance come from the test.
// Owns the virtual clocks, timers and deferred turns. Nothing happens by itself: `advance` and `idle` drive it.
//   V1. The same seed and the same calls give the same times, ids and numbers.
//   V2. Timers fire in the order of their time, then of their making; promises settle between two of them. Deferred turns
//       come when no more timer is due, as in a real event loop.
//   V3. Timers follow `mono`: a jump of the wall clock fires none and delays none.
//   V4. Code that is loaded with `import()` takes no time.
//   V5. Code that goes on for ever without letting time pass causes an error; the test does not hang.
//   V6. Of the polls (timers with `latestMs`) between two things that happen, only the first and the last are made. Those in between
//       would find nothing new, so time leaps over them.
import { type Duration, durationMs } from '../model/duration.ts'
import { asyncLocalScope, type Env } from '../model/env.ts'
import { monotonicUlids } from '../model/ulid.ts'
import { isBefore, type Look, type Timer, VirtualLooks } from './virtual-looks.ts'

/** An Env whose time stands still until the test moves it. The same seed and the same calls give the same times, ids and random numbers. */
export interface VirtualEnv extends Env {
  /** Waits for code that is loaded with `import()`; no time passes meanwhile. */
  load: NonNullable<Env['load']>
  /**
   * Lets time pass: calls the timers that fall due, runs deferred turns, and lets promises settle in between.
   *
   * @example await env.advance('14d')
   */
  advance(duration: Duration): Promise<void>
  /** Runs deferred turns and lets promises settle; no time passes. */
  idle(): Promise<void>
  /** Milliseconds until the next timer is due; null if none is set. */
  nextInMs(): number | null
  /** Moves only the wall clock, forwards or backwards, by so many milliseconds. */
  jump(ms: number): void
  /** Sets only the wall clock, to milliseconds since 1970. */
  set(wallMs: number): void
}

/** The options of `virtualEnv`. */
export interface VirtualEnvOptions {
  /** Chooses the ids and the random numbers. Default 1. */
  seed?: number
  /** The time at which the wall clock begins, in milliseconds since 1970. Default: the beginning of 2025, UTC. */
  startMs?: number
  /** True if nothing in the test waits for the real world, such as a file or a network: then time passes much faster. Default false. */
  isClosed?: boolean
}

/** Far more than the tasks that ever wait at once. */
const TURNS_MAX = 100_000
const START_MS = Date.UTC(2025, 0, 1)

/** Makes an Env whose time stands still until the test moves it, for `createDurably({ env })` and `memoryStore({ env })`. */
export function virtualEnv({ seed = 1, startMs = START_MS, isClosed = false }: VirtualEnvOptions = {}): VirtualEnv {
  let mono = 0
  let wall = startMs
  /** In the order in which they fall due. */
  const timers: Timer[] = []
  const looks = new VirtualLooks()
  let made = 0
  const turns: (() => void)[] = []
  const loading = new Set<Promise<unknown>>()
  // Two streams, so that making an id does not change what `random` says next.
  const nextId = monotonicUlids(seededRandom(seed ^ 0x5bd1e995))
  const random = seededRandom(seed)
  const scope = asyncLocalScope()
  const afterTurn = isClosed ? whenSettled : afterRealTurn

  /** Lets promises settle. To be called by a promise, as everything after an `await` is. */
  function settle(): Promise<void> {
    return new Promise((resolve) => {
      const settled = () => (loading.size === 0 ? resolve() : void Promise.allSettled(loading).then(() => afterTurn(settled)))
      afterTurn(settled)
    })
  }

  async function idle(): Promise<void> {
    await null
    await settle()
    await takeTurns()
  }

  async function takeTurns(): Promise<void> {
    let count = 0
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      if (++count > TURNS_MAX) throw new Error(`V5: ${TURNS_MAX} turns went by, and no time`)
      turn()
      await settle()
    }
  }

  async function advance(duration: Duration): Promise<void> {
    const until = mono + (typeof duration === 'number' ? duration : durationMs('the time to advance', duration))
    looks.somethingHappened(mono)
    await idle()
    for (let timer = dueTimer(until); timer; timer = dueTimer(until)) {
      pass(timer.at - mono)
      timer.fn()
      for (await settle(), timer = dueTimer(until, mono); timer; timer = dueTimer(until, mono)) {
        timer.fn()
        await settle()
      }
      if (turns.length > 0) await takeTurns()
    }
    pass(until - mono)
    await idle()
  }

  function pass(ms: number): void {
    // A timer set while a later moment was reached must not turn the clock back.
    if (ms <= 0) return
    mono += ms
    wall += ms
  }

  /** The next one by `by`, if time passes until `until`. */
  function dueTimer(until: number, by = until): Timer | undefined {
    const next = timers[0]
    const look = looks.next(mono, Math.min(until, next?.at ?? until))
    if (look && look.at <= by && (!next || isBefore(look, next))) return look
    if (!next || next.at > by) return undefined
    looks.somethingHappened(next.at)
    return timers.shift()
  }

  return {
    wall: () => Math.floor(wall),
    mono: () => mono,
    timer(ms, fn, latestMs) {
      const timer: Timer = { at: mono + Math.max(0, ms), number: made++, fn }
      if (latestMs !== undefined) return looks.add({ ...timer, everyMs: ms, setAt: mono, latestAt: mono + latestMs })
      looks.somethingHappened(mono)
      timers.splice(placeOf(timer, timers), 0, timer)
      return timer
    },
    clear(handle) {
      if (!handle || looks.delete(handle as Look)) return
      const place = placeOf(handle as Timer, timers)
      if (timers[place] === handle) timers.splice(place, 1)
    },
    defer: (fn) => void turns.push(fn),
    // A ULID's clock starts above 0.
    id() {
      looks.somethingHappened(mono)
      return nextId(Math.max(1, Math.floor(wall)))
    },
    random,
    ...(scope && { scope }),
    load(code) {
      loading.add(code)
      const settled = () => void loading.delete(code)
      code.then(settled, settled)
      return code
    },
    advance,
    idle,
    nextInMs() {
      const at = Math.min(timers[0]?.at ?? Number.POSITIVE_INFINITY, looks.next(mono, mono)?.at ?? Number.POSITIVE_INFINITY)
      return at === Number.POSITIVE_INFINITY ? null : Math.max(0, at - mono)
    },
    jump(ms) {
      wall += ms
    },
    set(wallMs) {
      wall = wallMs
    },
  }
}

/** The place where it is, or would be inserted. */
function placeOf(timer: Timer, timers: readonly Timer[]): number {
  let from = 0
  let to = timers.length
  while (from < to) {
    const middle = (from + to) >>> 1
    const other = timers[middle]
    if (other && isBefore(other, timer)) from = middle + 1
    else to = middle
  }
  return from
}

/** mulberry32: 32 bits of state are enough to choose faults and to make ids differ. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = state
    x = Math.imul(x ^ (x >>> 15), x | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

/** After a turn of the real event loop, taken when the module loads: a test may replace the globals later. */
const afterRealTurn = realTurns()

/** In Node a tick that a promise asked for comes when no promise can go on any more. Elsewhere only a whole turn of the event loop does. */
const whenSettled: (fn: () => void) => void = globalThis.process?.nextTick ?? afterRealTurn

function realTurns(): (fn: () => void) => void {
  if (typeof setImmediate === 'function') return setImmediate
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.onmessage = () => waiting.shift()?.()
  return (fn) => {
    waiting.push(fn)
    port2.postMessage(null)
  }
}
