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
import { VirtualTime } from './virtual-time.ts'
import { VirtualTurns } from './virtual-turns.ts'

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

const START_MS = Date.UTC(2025, 0, 1)

/** Makes an Env whose time stands still until the test moves it, for `createDurably({ env })` and `memoryStore({ env })`. */
export function virtualEnv({ seed = 1, startMs = START_MS, isClosed = false }: VirtualEnvOptions = {}): VirtualEnv {
  const time = new VirtualTime(startMs)
  const turns = new VirtualTurns(isClosed)
  // Two streams, so that making an id does not change what `random` says next.
  const nextId = monotonicUlids(seededRandom(seed ^ 0x5bd1e995))
  const random = seededRandom(seed)
  const scope = asyncLocalScope()

  async function idle(): Promise<void> {
    await null
    await turns.settle()
    await turns.takeAll()
  }

  async function advance(duration: Duration): Promise<void> {
    const until = time.mono + (typeof duration === 'number' ? duration : durationMs('the time to advance', duration))
    time.somethingHappened()
    await idle()
    for (let timer = time.takeDue(until); timer; timer = time.takeDue(until)) {
      time.pass(timer.at - time.mono)
      timer.fn()
      for (await turns.settle(), timer = time.takeDue(until, time.mono); timer; timer = time.takeDue(until, time.mono)) {
        timer.fn()
        await turns.settle()
      }
      if (!turns.isEmpty) await turns.takeAll()
    }
    time.pass(until - time.mono)
    await idle()
  }

  return {
    wall: () => Math.floor(time.wall),
    mono: () => time.mono,
    timer: (ms, fn, latestMs) => time.setTimer(ms, fn, latestMs),
    clear: (handle) => time.clear(handle),
    defer: (fn) => turns.defer(fn),
    // A ULID's clock starts above 0.
    id() {
      time.somethingHappened()
      return nextId(Math.max(1, Math.floor(time.wall)))
    },
    random,
    ...(scope && { scope }),
    load: (code) => turns.load(code),
    advance,
    idle,
    nextInMs: () => time.nextInMs(),
    jump(ms) {
      time.wall += ms
    },
    set(wallMs) {
      time.wall = wallMs
    },
  }
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
