// Env — the engine's only source of time, timers, ids and random numbers. So a simulation can replace them, and replay a whole history
// byte for byte.
import { DurablyError } from './errors.ts'
import { monotonicUlids } from './ulid.ts'

/** The only source of time, timers, ids and random numbers. Tests replace it with `virtualEnv()`. */
export interface Env {
  /** The time of day, in milliseconds since 1970. It may jump when the clock is set. */
  wall(): number
  /** Milliseconds since some start. It never goes back. */
  mono(): number
  /**
   * Calls `fn` once, after `ms` milliseconds; returns a handle for `clear`. The caller gives `latestMs` if `fn` only polls for changes: a
   * virtual clock, which knows that nothing happens meanwhile, may then call `fn` later, but at the latest after `latestMs` milliseconds.
   */
  timer(ms: number, fn: () => void, latestMs?: number): TimerHandle
  /** Cancels a timer. One that has already fired is ignored. */
  clear(handle: TimerHandle): void
  /** Calls `fn` in a later turn of the event loop, after pending I/O and timers had a chance. */
  defer(fn: () => void): void
  /** Returns a new ULID, greater than every one before it. */
  id(): string
  /** Returns a random number, at least 0 and less than 1. */
  random(): number
  /** Makes a value that follows a chain of async calls. Absent where the runtime has no AsyncLocalStorage. */
  scope?<T>(): Scope<T>
  /** Waits for what is not in the store: code that is loaded with `import()`, a file of the archive. A virtual Env lets no time pass meanwhile. */
  load?<T>(loading: Promise<T>): Promise<T>
}

/** The part of an Env that is needed to wait. */
export type Clock = Pick<Env, 'mono' | 'timer' | 'clear' | 'random'>

/** What `timer` returns and `clear` takes; each Env has its own kind. */
export type TimerHandle = unknown

/** A value that follows a chain of async calls, like an AsyncLocalStorage. */
export interface Scope<T> {
  /** Calls `fn`; inside it, and in everything that it calls or awaits, `current()` returns `value`. */
  run<R>(value: T, fn: () => R): R
  /** The value of the innermost `run` around the caller; undefined outside of all. */
  current(): T | undefined
}

/**
 * The Env that an instance has by default: the time, timers and random numbers of the system. `wall` replaces its time of day.
 *
 * @example const env = systemEnv(() => Date.now() + offsetMs)
 */
export function systemEnv(wall: () => number = Date.now): Env {
  const nextId = monotonicUlids(pooledChance())
  const scope = asyncLocalScope()
  return {
    ...systemClock(),
    wall,
    defer: deferredTurn(),
    id: () => nextId(wall()),
    ...(scope && { scope }),
  }
}

export function systemClock(): Clock {
  return {
    mono: () => performance.now(),
    timer: (ms, fn) => setTimeout(fn, Math.min(ms, TIMER_MS_MAX)),
    clear: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
    random: () => Math.random(),
  }
}

/** Longer delays overflow the 32-bit timers of every runtime and would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

export function sleep(env: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void env.timer(ms, resolve))
}

/** Resolves in a later turn of the event loop. */
export function nextTurn(env: Pick<Env, 'defer'>): Promise<void> {
  return new Promise((resolve) => env.defer(resolve))
}

/** Loads code when it is needed. When it cannot be loaded, as in a page that went offline, that is like an unavailable database. */
export function loaded<T>(env: Env, load: () => Promise<T>): Promise<T> {
  const loading = load().catch((cause) => {
    if (cause instanceof DurablyError) throw cause
    throw new DurablyError(
      'store_unavailable',
      'code of durably could not be loaded; the next call tries again. Unless the page is offline, reload it',
      { cause },
    )
  })
  return outside(env, loading)
}

/** Waits for something that is not in the store. A virtual Env lets no time pass meanwhile. */
export function outside<T>(env: Env, work: Promise<T>): Promise<T> {
  return env.load ? env.load(work) : work
}

/** Whether `done` settles within `ms`; a rejection of `done` is passed on. */
export async function within(env: Clock, ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: TimerHandle
  const late = new Promise<false>((resolve) => {
    timer = env.timer(ms, () => resolve(false))
  })
  return Promise.race([done.then(() => true), late]).finally(() => env.clear(timer))
}

/** The time as text. The last one is kept: on a busy worker many rows and events have the same time. */
export function iso(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}

let lastTime = { ms: Number.NaN, text: '' }

/** A call of the system's generator costs much more than its bytes, so they are drawn many at a time. */
function pooledChance(): () => number {
  const pool = new Uint8Array(1024)
  let drawn = pool.length
  return () => {
    if (drawn === pool.length) {
      crypto.getRandomValues(pool)
      drawn = 0
    }
    return (pool[drawn++] ?? 0) / 0xff
  }
}

function deferredTurn(): Env['defer'] {
  if (typeof setImmediate === 'function') return (fn) => void setImmediate(fn)
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.onmessage = () => waiting.shift()?.()
  return (fn) => {
    waiting.push(fn)
    port2.postMessage(null)
  }
}

/** For runtimes without AsyncLocalStorage: the scope is lost at the first `await`. */
export function shortScope<T>(): Scope<T> {
  let current: T | undefined
  return {
    run(value, fn) {
      const outer = current
      current = value
      try {
        return fn()
      } finally {
        current = outer
      }
    },
    current: () => current,
  }
}

interface Frame {
  scope: unknown
  value: unknown
  outer: Frame | undefined
}

/** The part of AsyncLocalStorage that is used. */
interface FrameStorage {
  run<R>(frame: Frame, fn: () => R): R
  getStore(): Frame | undefined
  disable(): void
}

/** One for all scopes: on Node 20 each one that was ever used makes every promise of the process slower. */
let frames: FrameStorage | undefined

/** `node:async_hooks` without an import, so that bundling the core for a browser pulls no `node:` module. */
export function asyncLocalScope(): (<T>() => Scope<T>) | undefined {
  const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
  if (!hooks) return undefined
  frames ??= new hooks.AsyncLocalStorage<Frame>()
  const storage = frames
  return <T>(): Scope<T> => {
    const scope: Scope<T> = {
      run: (value, fn) => storage.run({ scope, value, outer: storage.getStore() }, fn),
      current() {
        let frame = storage.getStore()
        while (frame && frame.scope !== scope) frame = frame.outer
        return frame?.value as T | undefined
      },
    }
    return scope
  }
}

/** Called when nothing is inside a scope any more: until the next one is entered, promises are as fast as without scopes. */
export function forgetScopes(): void {
  frames?.disable()
}
