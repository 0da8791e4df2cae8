// SimProcess — one process of the simulated world: it has a machine's clock and a connection to the store of its own, and can be killed.
//   P1. A killed process does nothing any more: no timer fires, no answer arrives.
//   P2. A paused process does nothing until it wakes; then everything that fell due happens at once.
import type { Env, TimerHandle } from '../../model/env.ts'
import type { Store } from '../../store/store.ts'
import { chance } from './chance.ts'
import { ClaimedRuns } from './claimed-runs.ts'
import { MachineClock } from './machine-clock.ts'
import { type LineWorld, StoreLine } from './store-line.ts'
import { hasScopes } from './world-kinds.ts'

export interface SimWorld extends LineWorld {
  store: Store
  /** A process looks for work only when something falls due, as far as it knows. */
  looksLate?: boolean
  onDeath: (process: SimProcess) => void
}

const TICK_MS = 0.001

interface Timer {
  handle: TimerHandle
  isCleared: boolean
}

export class SimProcess {
  readonly name: string
  readonly clock: MachineClock
  readonly claims: ClaimedRuns
  readonly env: Env
  readonly store: Store
  readonly #world: SimWorld
  readonly #line: StoreLine
  /** Calls that take simulated time: the world must not stand still until they are answered. */
  readonly #simulated = new WeakSet<Promise<unknown>>()
  readonly #onDeath = new Set<() => void>()
  #alive = true
  #wakesAt = 0
  /** What fell due during the pause, in that order. */
  readonly #asleep: (() => void)[] = []

  constructor(name: string, world: SimWorld) {
    const { base, seed, leaseMs, storeMs = base.wall } = world
    this.name = name
    this.#world = world
    this.clock = new MachineClock(seed, name, base)
    this.claims = new ClaimedRuns({ base, clock: this.clock, storeMs, leaseMs })
    this.env = this.#env()
    this.#line = new StoreLine(world, this)
    const line = this.#line.to(world.store)
    this.store = {
      ...line,
      runs: this.claims.rememberedFrom(line.runs),
      ...(line.cluster && { cluster: this.claims.rememberedFromCluster(line.cluster) }),
    }
  }

  #env(): Env {
    const { clock, name } = this
    const { base, seed, looksLate } = this.#world
    let draws = 0
    return {
      wall: () => clock.wall(),
      mono: () => clock.mono(),
      timer: (ms, fn, latestMs = ms) => this.#timer(looksLate && Number.isFinite(latestMs) ? latestMs : ms, fn),
      clear: (timer) => {
        if (!timer) return
        ;(timer as Timer).isCleared = true
        base.clear((timer as Timer).handle)
      },
      defer: (fn) => base.defer(() => this.whenAwake(fn)),
      id: () => base.id(),
      random: () => chance(seed, `draw ${name} ${draws++}`),
      load: (code) => (this.#simulated.has(code) ? code : base.load(code)),
      // A server can follow the asynchronous calls of a step, a browser cannot: where there are scopes, half of the processes have them.
      ...(base.scope && hasScopes(seed) && chance(seed, `scope of ${name}`) < 0.5 && { scope: base.scope }),
    }
  }

  /** Something else than the store, over the same line. The engine takes it for a part of the real world, but its calls take simulated time. */
  reach<T extends object>(name: string, verbs: T): T {
    return new Proxy(this.#line.chapter(name, verbs), {
      get: (chapter, verb) => {
        const invoke = Reflect.get(chapter, verb) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => {
          const call = invoke(...args)
          this.#simulated.add(call)
          return call
        }
      },
    })
  }

  get leaseMs(): number {
    return this.#world.leaseMs
  }

  get alive(): boolean {
    return this.#alive
  }

  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    for (const end of this.#onDeath) end()
    this.#world.onDeath(this)
  }

  /** Calls `fn` when the process dies, until the returned function is called. */
  whenDead(fn: () => void): () => void {
    this.#onDeath.add(fn)
    return () => void this.#onDeath.delete(fn)
  }

  /**
   * Calls `fn` when the signal aborts, until the returned function is called or the process dies. Node keeps a composed signal that has a
   * listener, and all that the listener refers to, for ever.
   */
  onAbort(signal: AbortSignal, fn: () => void): () => void {
    if (!this.#alive) return () => {}
    const aborted = () => {
      forget()
      fn()
    }
    const forget = () => {
      signal.removeEventListener('abort', aborted)
      this.#onDeath.delete(forget)
    }
    this.#onDeath.add(forget)
    signal.addEventListener('abort', aborted)
    return forget
  }

  pause(ms: number): void {
    this.#wakesAt = Math.max(this.#wakesAt, this.now + ms)
  }

  /** Its machine sleeps. */
  suspend(ms: number): void {
    this.clock.sleep(ms)
    this.pause(ms)
  }

  /** The time of the world. What several processes do is compared by this clock, because their own may have stopped. */
  get now(): number {
    return this.#world.base.mono()
  }

  /** When the last pause ends, or has ended. */
  get wokeAt(): number {
    return this.#wakesAt
  }

  /** Calls it now or, during a pause, when the process wakes, in the order of the calls; never if it is dead by then. */
  whenAwake(fn: () => void): void {
    if (!this.#alive) return
    if (this.#wakesAt <= this.now) return fn()
    this.#asleep.push(fn)
    this.#callNextAtWake()
  }

  /** One timer for each that waits. A pause may have become longer meanwhile, so the oldest is called, whichever timer fires first. */
  #callNextAtWake(): void {
    const { base } = this.#world
    base.timer(this.#wakesAt - this.now, () => {
      if (!this.#alive) return
      if (this.#wakesAt > this.now) this.#callNextAtWake()
      else this.#asleep.shift()?.()
    })
  }

  /** A timer that fell due during a pause can be cleared until it fires. */
  #timer(ms: number, fn: () => void): Timer {
    const { clock } = this
    const arm = (inMs: number): TimerHandle => {
      // The timers of a sleeping machine count from when it wakes.
      const { asleepMs } = clock
      const sleptMs = clock.sleptMs + asleepMs
      return this.#world.base.timer(asleepMs + inMs, () => {
        const missedMs = clock.sleptMs - sleptMs
        if (missedMs > 0) timer.handle = arm(missedMs)
        else this.whenAwake(() => timer.isCleared || fn())
      })
    }
    // The rest of a duration may be less than the clock can count, but it has to pass.
    const timer: Timer = { handle: arm(ms > 0 ? Math.max(ms, TICK_MS) : 0), isCleared: false }
    return timer
  }
}
