// SimProcess — one process of the simulated world: it has a clock skew and a connection to the store of its own, and it can be killed.
//   P1. A killed process does nothing any more: no timer fires, no answer arrives.
//   P2. A paused process does nothing until it wakes; then everything that fell due happens at once.
//   P3. A request that was sent is carried out whatever becomes of its sender.

import type { Env, TimerHandle } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import { DIFFERENCE_MS_MAX, type Moment, momentOf } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { VirtualEnv } from '../virtual-env.ts'
import { chance, pick } from './chance.ts'
import type { CutLine } from './cut-line.ts'
import type { CallFaults } from './fault-plan.ts'
import { NarrowLine } from './narrow-line.ts'
import { isFaultFree } from './world-kinds.ts'

export interface SimWorld {
  seed: number
  base: VirtualEnv
  store: Store
  /** The store's clock; that of the world unless given. */
  storeMs?: () => number
  plan: CallFaults
  /** Loses connections in the middle of transactions, where the store has any. */
  line?: CutLine | undefined
  leaseMs: number
  /** How long a call without a fault takes at most, there and back. */
  latencyMs?: number
  /** A process looks for work only when something falls due, as far as it knows. */
  looksLate?: boolean
  /** How many requests of a process can be under way at a time; any number unless given. */
  lineWidth?: number
  /** Called when the store has carried out a request that arrived at `arrivedMs`. */
  onApplied: (process: string, verb: string, answer: Answer, args: readonly unknown[], arrivedMs: number) => void
  onDeath: (process: SimProcess) => void
}

const SCOPES_SHARE = 0.1
const LATENCY_MS_MAX = 8
const TICK_MS = 0.001
/** How long a slow call takes at most, in leases. */
export const SLOW_LEASES_MAX = 1.3
const STALL_LEASES_MAX = 2.5
/** The engine ignores a difference of at most `DIFFERENCE_MS_MAX` between its clocks, so a sleep must be longer. */
export const SUSPEND_MS_MIN = DIFFERENCE_MS_MAX + 100
const CLOCKS_SET_SHARE = 0.15
const CLOCK_SET_AFTER_MS_MAX = 60_000
const CLOCK_SET_MS_MAX = 3 * 60 * 60 * 1000

export type Answer = { value: unknown } | { error: unknown }

interface Timer {
  handle: TimerHandle
  isCleared: boolean
}

/** By the time of the world. */
interface Sleep {
  from: number
  until: number
}

interface Sent extends Moment {
  /** How long its machine had slept until then. */
  sleptMs: number
  isClockSet: boolean
}

interface Claimed {
  row: RunRow
  /** When the claim was sent, and answered, by the clocks of the process. */
  sent: Sent
  answered: Moment
  /** When it was answered, by the time of the world. */
  answeredAt: number
  /** The difference between the store's clock and that of the world at the answer. */
  jumpedMs: number
}

export class SimProcess {
  readonly name: string
  readonly env: Env
  readonly store: Store
  readonly #world: SimWorld
  readonly #line: NarrowLine | null
  readonly #claimed = new Map<string, Claimed>()
  readonly #onDeath = new Set<() => void>()
  #claimSent: Sent = { wall: 0, mono: 0, sleptMs: 0, isClockSet: false }
  #calls = 0
  /** When and by how much its wall clock is set; at infinity where it is not. */
  readonly #clockSet: { atMs: number; byMs: number }
  #alive = true
  #wakesAt = 0
  /** The last sleep of its machine, and how long it slept before that in all. */
  #sleep: Sleep = { from: 0, until: 0 }
  #sleptBeforeMs = 0

  constructor(name: string, world: SimWorld) {
    this.name = name
    this.#world = world
    this.#line = world.lineWidth === undefined ? null : new NarrowLine(world.lineWidth)
    const { base, seed } = world
    const skewMs = pick(seed, `skew of ${name}`, -60_000, 60_000)
    this.#clockSet = clockSetOf(seed, name, base.mono())
    let draws = 0
    this.env = {
      wall: () => base.wall() + skewMs + (this.isClockSet ? this.#clockSet.byMs : 0),
      mono: () => base.mono() - this.sleptMs,
      timer: (ms, fn, latestMs = ms) => this.#timer(world.looksLate && Number.isFinite(latestMs) ? latestMs : ms, fn),
      clear: (timer) => {
        if (!timer) return
        ;(timer as Timer).isCleared = true
        base.clear((timer as Timer).handle)
      },
      defer: (fn) => base.defer(() => this.#awake(fn)),
      id: () => base.id(),
      random: () => chance(seed, `draw ${name} ${draws++}`),
      load: (code) => base.load(code),
      // A server can follow the asynchronous calls of a step, a browser cannot.
      ...(base.scope && hasScopes(seed, name) && { scope: base.scope }),
    }
    this.store = this.#lineTo(world.store)
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
    this.#wakesAt = Math.max(this.#wakesAt, this.#world.base.mono() + ms)
  }

  /** Its machine sleeps: the wall clock and the store's go on, the monotonic clock and the timers stop. */
  suspend(ms: number): void {
    const now = this.now
    const { from, until } = this.#sleep
    if (now < until) this.#sleep.until = Math.max(until, now + ms)
    else {
      this.#sleptBeforeMs += until - from
      this.#sleep = { from: now, until: now + ms }
    }
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

  /** The generation under which this process last claimed a run. */
  generationOf(runId: string): number {
    return this.#claimed.get(runId)?.row.leaseGeneration ?? 0
  }

  /** When a run first started, by the store's clock. */
  startOf(runId: string): number {
    return this.#claimed.get(runId)?.row.startedAt ?? 0
  }

  /** The store's clock; if that has jumped since this run was claimed, the time that its owner derives from the claim, if it is earlier. */
  storeNow(runId: string): number {
    return Math.min(this.#storeNowByClaim(runId), this.#storeMs())
  }

  /** The latest time that the owner of this run can take for the store's, also when a clock has jumped. */
  storeNowAtMost(runId: string): number {
    const claimed = this.#claimed.get(runId)
    const byClaim = this.#storeNowByClaim(runId)
    if (!claimed || !this.#mayHaveAsked(claimed)) return byClaim
    // The answer may have taken longer than the answer to the claim, and the store's clock may have jumped since.
    return Math.max(byClaim, this.#storeMs()) + this.#world.leaseMs
  }

  /** A duration that is counted from now may begin this much later: as long as the question for the store's time may take. */
  askingMsMax(runId: string): number {
    const claimed = this.#claimed.get(runId)
    return claimed && this.#mayHaveAsked(claimed) ? (SLOW_LEASES_MAX + STALL_LEASES_MAX) * this.#world.leaseMs : 0
  }

  #storeNowByClaim(runId: string): number {
    const claimed = this.#claimed.get(runId)
    if (!claimed) return 0
    const { mono, sleptMs } = claimed.sent
    return this.#claimedAt(claimed) + this.env.mono() - mono + this.sleptMs - sleptMs
  }

  /** When the claim of a run was answered, on its own clock. */
  answeredAt(runId: string): number {
    return this.#claimed.get(runId)?.answered.mono ?? 0
  }

  /** When the deadline of a run that it claimed is over, by the time of the world, as long as the store's clock does not jump. */
  deadlineOf(runId: string): number {
    const { base } = this.#world
    return (this.#claimed.get(runId)?.row.deadlineAt ?? Number.POSITIVE_INFINITY) - (base.wall() - base.mono())
  }

  /** When the deadline is over according to the answer to the claim, by the time of the world; never too early. */
  deadlineByClaim(runId: string): number {
    const claimed = this.#claimed.get(runId)
    if (!claimed || claimed.row.deadlineAt === null) return Number.POSITIVE_INFINITY
    return claimed.answeredAt + claimed.row.deadlineAt - this.#claimedAt(claimed)
  }

  /** Whether the deadline is over by the store's clock. If that has jumped, a process that asked for the time may know the time before. */
  isDeadlineOver(runId: string): boolean {
    const claimed = this.#claimed.get(runId)
    if (!claimed || claimed.row.deadlineAt === null) return false
    const hasJumped = claimed.jumpedMs !== this.#jumpedMs()
    return claimed.row.deadlineAt <= Math.max(this.#world.base.wall(), this.#storeMs()) || (hasJumped && this.#mayHaveAsked(claimed))
  }

  #storeMs(): number {
    const { base, storeMs = base.wall } = this.#world
    return storeMs()
  }

  #jumpedMs(): number {
    return this.#storeMs() - this.#world.base.wall()
  }

  /** Its clocks differ by more than at the claim, so the process may have asked the store for its time. */
  #mayHaveAsked({ sent }: Claimed): boolean {
    return this.sleptMs > sent.sleptMs || (this.isClockSet && !sent.isClockSet)
  }

  /**
   * Its machine has slept and its wall clock was set back. With a run: since the run was claimed and by as much as the machine slept, so
   * that its clocks agree and none shows that a lease or a deadline is over. Without a run: at any time and by any amount, because a tab
   * that waits for the lead does not compare its clocks.
   */
  hasMisleadingClocks(runId?: string): boolean {
    const sent = runId === undefined ? { sleptMs: 0, isClockSet: false } : this.#claimed.get(runId)?.sent
    if (!sent || this.#clockSet.byMs > 0) return false
    const sleptMs = this.sleptMs - sent.sleptMs
    const hidesIt = runId === undefined || Math.abs(sleptMs + this.#clockSet.byMs) < DIFFERENCE_MS_MAX
    return sleptMs > 0 && hidesIt && this.isClockSet && !sent.isClockSet
  }

  /** Its wall clock was set. */
  get isClockSet(): boolean {
    return this.now >= this.#clockSet.atMs
  }

  #claimedAt({ row }: Claimed): number {
    return (row.leaseExpiresAt ?? 0) - this.#world.leaseMs
  }

  /** How long its machine has slept until now. */
  get sleptMs(): number {
    const { from, until } = this.#sleep
    return this.#sleptBeforeMs + Math.min(this.now, until) - from
  }

  /** A timer that fell due during a pause can be cleared until it fires. */
  #timer(ms: number, fn: () => void): Timer {
    const { base } = this.#world
    const arm = (inMs: number): TimerHandle => {
      // The timers of a sleeping machine count from when it wakes.
      const asleepMs = Math.max(0, this.#sleep.until - this.now)
      const sleptMs = this.sleptMs + asleepMs
      return base.timer(asleepMs + inMs, () => {
        const missedMs = this.sleptMs - sleptMs
        if (missedMs > 0) timer.handle = arm(missedMs)
        else this.#awake(() => timer.isCleared || fn())
      })
    }
    // The rest of a duration may be less than the clock can count, but it has to pass.
    const timer: Timer = { handle: arm(ms > 0 ? Math.max(ms, TICK_MS) : 0), isCleared: false }
    return timer
  }

  #awake(fn: () => void): void {
    const { base } = this.#world
    if (!this.#alive) return
    if (this.#wakesAt > base.mono()) base.timer(this.#wakesAt - base.mono(), () => this.#awake(fn))
    else fn()
  }

  #lineTo(store: Store): Store {
    const chapter = <T extends object>(name: string, verbs: T): T =>
      new Proxy(verbs, {
        get: (_, verb) => {
          const invoke = Reflect.get(verbs, verb) as (...args: unknown[]) => Promise<unknown>
          return (...args: unknown[]) => {
            // A call inside a transaction uses the connection of the transaction.
            if (isWithin(args[1])) return invoke.apply(verbs, args)
            return this.#call(`${name}.${String(verb)}`, args, () => invoke.apply(verbs, args))
          }
        },
      })
    return {
      runs: this.#remembersClaims(chapter('runs', store.runs)),
      steps: chapter('steps', store.steps),
      events: chapter('events', store.events),
      logs: chapter('logs', store.logs),
      signals: chapter('signals', store.signals),
      ...(store.cluster && { cluster: chapter('cluster', store.cluster) }),
      eventLog: store.eventLog,
      ...(store.transact && { transact: this.#lineOfTransactions(store.transact) }),
      migrate: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
  }

  /** At any statement the process may die or the connection may be lost: then the transaction is rolled back. */
  #lineOfTransactions(transact: NonNullable<Store['transact']>): NonNullable<Store['transact']> {
    const { line, plan } = this.#world
    return (body) => {
      const perform = (call: string) =>
        transact((trx) => {
          const cut = line && plan.ofTransaction?.(call)
          if (cut) line.cutAt(cut.statement, cut.kills ? () => this.kill() : () => {})
          return this.#whileAlive(body(trx))
        })
      return this.#call('transact', [], perform) as ReturnType<NonNullable<Store['transact']>>
    }
  }

  #whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = () => reject(new DurablyError('store_unavailable', 'the process died'))
      this.#onDeath.add(end)
      work.then(resolve, reject).finally(() => this.#onDeath.delete(end))
      if (!this.#alive) end()
    })
  }

  #remembersClaims(runs: RunStore): RunStore {
    const remember = (runs: RunRow[], sent: Sent) => {
      const answer = { answered: momentOf(this.env), answeredAt: this.now, jumpedMs: this.#jumpedMs() }
      for (const row of runs) this.#claimed.set(row.id, { row, sent, ...answer })
      return runs
    }
    return new Proxy(runs, {
      get: (target, verb) => {
        if (verb === 'claim')
          return async (request: Parameters<RunStore['claim']>[0]) => {
            const sent = { ...momentOf(this.env), sleptMs: this.sleptMs, isClockSet: this.isClockSet }
            this.#claimSent = sent
            return remember(await target.claim(request), sent)
          }
        if (verb === 'adopt') return async (tokens: readonly string[]) => remember(await target.adopt(tokens), this.#claimSent)
        return Reflect.get(target, verb)
      },
    })
  }

  #call(verb: string, args: readonly unknown[], invoke: (call: string) => Promise<unknown>): Promise<unknown> {
    // The functions of a killed process go on, but their requests are never sent (P1).
    if (!this.#alive) return new Promise(() => {})
    const line = this.#line
    if (!line) return this.#send(verb, args, invoke)
    return new Promise((resolve, reject) => {
      line.send((over) =>
        this.#awake(() => {
          const sent = this.#send(verb, args, invoke)
          sent.then(resolve, reject)
          sent.then(over, over)
        }),
      )
    })
  }

  #send(verb: string, args: readonly unknown[], invoke: (call: string) => Promise<unknown>): Promise<unknown> {
    const { base, seed, plan, leaseMs, latencyMs = LATENCY_MS_MAX, onApplied } = this.#world
    const call = `${this.name}#${this.#calls++} ${verb}`
    const fault = plan.ofCall(call, verb, args)
    const intrusion = typeof fault === 'object' ? fault : null
    const total = fault === 'slow' ? slowMs(seed, call, leaseMs) : chance(seed, `latency ${call}`) * latencyMs
    const there = total * chance(seed, `share ${call}`)
    return new Promise((resolve, reject) => {
      const refuse = (what: string) => this.#awake(() => reject(new DurablyError('store_unavailable', what)))
      if (fault === 'crash before') return this.kill()
      base.timer(there, async () => {
        if (fault === 'lose request') return refuse('the request was lost')
        if (intrusion?.before) await intrusion.before()
        const arrivedMs = this.#storeMs()
        const answer: Answer = await invoke(call).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        onApplied(this.name, verb, answer, args, arrivedMs)
        intrusion?.after?.()
        if (fault === 'crash after') return this.kill()
        if (fault === 'stall') this.pause(stallMs(seed, call, leaseMs))
        if (fault === 'sleep') this.suspend(Math.max(stallMs(seed, call, leaseMs), SUSPEND_MS_MIN))
        base.timer(total - there, () => {
          if (fault === 'lose reply') refuse('the reply was lost')
          else this.#awake(() => ('error' in answer ? reject(answer.error) : resolve(answer.value)))
        })
      })
    })
  }
}

export function isWithin(options: unknown): boolean {
  return typeof options === 'object' && options !== null && Reflect.get(options, 'within') !== undefined
}

/** Half of the slow calls take longer than a lease, which is where errors are likely. */
function slowMs(seed: number, call: string, leaseMs: number): number {
  const dice = chance(seed, `slow ${call}`)
  return leaseMs * (chance(seed, `how slow ${call}`) < 0.5 ? dice : 1 + dice * (SLOW_LEASES_MAX - 1))
}

function stallMs(seed: number, call: string, leaseMs: number): number {
  return leaseMs * STALL_LEASES_MAX * chance(seed, `stall ${call}`)
}

/** The wall clock is set forward or back some time after the process has started. */
function clockSetOf(seed: number, name: string, startedAt: number) {
  const isSet = !isFaultFree(seed) && chance(seed, `clock of ${name}`) < CLOCKS_SET_SHARE
  const atMs = isSet ? startedAt + pick(seed, `clock of ${name} at`, 0, CLOCK_SET_AFTER_MS_MAX) : Number.POSITIVE_INFINITY
  return { atMs, byMs: pick(seed, `clock of ${name} by`, -CLOCK_SET_MS_MAX, CLOCK_SET_MS_MAX) }
}

/** Few worlds have async scopes, which are slow, and there half of the processes have them, because not every runtime does. */
function hasScopes(seed: number, name: string): boolean {
  return chance(seed, 'scopes') < SCOPES_SHARE && chance(seed, `scope of ${name}`) < 0.5
}
