// StoreLine — the connection of a simulated process to the store. Each call takes time, and may meet a fault.
//   P3. A request that was sent is carried out whatever becomes of its sender.
import { DurablyError } from '../../model/errors.ts'
import type { Store } from '../../store/store.ts'
import type { VirtualEnv } from '../virtual-env.ts'
import { chance } from './chance.ts'
import type { CutLine } from './cut-line.ts'
import type { CallFaults } from './fault-plan.ts'
import { SUSPEND_MS_MIN } from './machine-clock.ts'
import { NarrowLine } from './narrow-line.ts'

const LATENCY_MS_MAX = 8
/** How long a slow call takes at most, in leases. */
export const SLOW_LEASES_MAX = 1.3
/** How long a process stands still at most during a call, in leases. */
export const STALL_LEASES_MAX = 2.5

export type Answer = { value: unknown } | { error: unknown }

export interface LineWorld {
  seed: number
  base: VirtualEnv
  /** The store's clock; that of the world unless given. */
  storeMs?: () => number
  plan: CallFaults
  /** Loses connections in the middle of transactions, where the store has any. */
  line?: CutLine | undefined
  leaseMs: number
  /** How long a call without a fault takes at most, there and back. */
  latencyMs?: number
  /** How many requests of a process can be under way at a time; any number unless given. */
  lineWidth?: number
  /** Runs that a process creates at the same moment arrive together, as over one connection; otherwise each request takes its own time. */
  bundlesCreates?: boolean
  /** Called when the store has carried out a request that arrived at `arrivedMs`. */
  onApplied: (process: string, verb: string, answer: Answer, args: readonly unknown[], arrivedMs: number) => void
}

/** The process whose connection it is. */
interface Caller {
  name: string
  alive: boolean
  kill(): void
  pause(ms: number): void
  suspend(ms: number): void
  whenAwake(fn: () => void): void
  whenDead(fn: () => void): () => void
}

type Transact = NonNullable<Store['transact']>
type Verb = (...args: unknown[]) => Promise<unknown>

export class StoreLine {
  readonly #world: LineWorld
  readonly #caller: Caller
  readonly #narrow: NarrowLine | null
  /** The last requests that were sent at the same moment, until they arrive. */
  #bundle: { sentAt: number; requests: (() => void)[] } | null = null
  #calls = 0

  constructor(world: LineWorld, caller: Caller) {
    this.#world = world
    this.#caller = caller
    this.#narrow = world.lineWidth === undefined ? null : new NarrowLine(world.lineWidth)
  }

  /** Some verbs, which are called over this line. */
  chapter<T extends object>(name: string, verbs: T): T {
    const made: Record<string | symbol, Verb> = {}
    const verbOf = (verb: string | symbol) => {
      made[verb] ??= this.#verb(`${name}.${String(verb)}`, Reflect.get(verbs, verb) as Verb)
      return made[verb]
    }
    const names = Object.keys(verbs)
    for (const verb of names) verbOf(verb)
    // One that is loaded lazily lists no verbs: each is made when it is first called.
    return names.length > 0 ? (made as T) : new Proxy(verbs, { get: (_, verb) => verbOf(verb) })
  }

  #verb(name: string, invoke: Verb): Verb {
    return (...args) => {
      // A call inside a transaction uses the connection of the transaction.
      if (isWithin(args[1])) return invoke(...args)
      return this.#call(name, args, () => invoke(...args))
    }
  }

  to(store: Store): Store {
    return {
      runs: this.chapter('runs', store.runs),
      steps: this.chapter('steps', store.steps),
      events: this.chapter('events', store.events),
      logs: this.chapter('logs', store.logs),
      signals: this.chapter('signals', store.signals),
      ...(store.cluster && { cluster: this.chapter('cluster', store.cluster) }),
      ...(store.archive && { archive: this.chapter('archive', store.archive) }),
      eventLog: store.eventLog,
      ...(store.transact && { transact: this.#transactions(store.transact) }),
      migrate: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
  }

  /** At any statement the process may die or the connection may be lost: then the transaction is rolled back. */
  #transactions(transact: Transact): Transact {
    const { line, plan } = this.#world
    return (body, statementMs) => {
      const perform = (call: string) =>
        transact((trx) => {
          const cut = line && plan.ofTransaction?.(call)
          if (cut) line.cutAt(cut.statement, cut.kills ? () => this.#caller.kill() : () => {})
          return this.#whileAlive(body(trx))
        }, statementMs)
      return this.#call('transact', [], perform) as ReturnType<Transact>
    }
  }

  #whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = () => reject(new DurablyError('store_unavailable', 'the process died'))
      work.then(resolve, reject).finally(this.#caller.whenDead(end))
      if (!this.#caller.alive) end()
    })
  }

  #call(verb: string, args: readonly unknown[], invoke: (call: string) => Promise<unknown>): Promise<unknown> {
    // The functions of a killed process go on, but their requests are never sent (P1).
    if (!this.#caller.alive) return new Promise(() => {})
    const narrow = this.#narrow
    if (!narrow) return this.#send(verb, args, invoke)
    return new Promise((resolve, reject) => {
      narrow.send((over) =>
        this.#caller.whenAwake(() => {
          const sent = this.#send(verb, args, invoke)
          sent.then(resolve, reject)
          sent.then(over, over)
        }),
      )
    })
  }

  #send(verb: string, args: readonly unknown[], invoke: (call: string) => Promise<unknown>): Promise<unknown> {
    const caller = this.#caller
    const { base, storeMs = base.wall, seed, plan, leaseMs, latencyMs = LATENCY_MS_MAX, onApplied } = this.#world
    const call = `${caller.name}#${this.#calls++} ${verb}`
    const fault = plan.ofCall(call, verb, args)
    const intrusion = typeof fault === 'object' ? fault : null
    const total = fault === 'slow' ? slowMs(seed, call, leaseMs) : chance(seed, `latency ${call}`) * latencyMs
    const there = total * chance(seed, `share ${call}`)
    return new Promise((resolve, reject) => {
      const refuse = (what: string) => caller.whenAwake(() => reject(new DurablyError('store_unavailable', what)))
      if (fault === 'crash before') return caller.kill()
      this.#deliver(verb, there, async () => {
        if (fault === 'lose request') return refuse('the request was lost')
        if (intrusion?.before) await intrusion.before()
        const arrivedMs = storeMs()
        const answer: Answer = await invoke(call).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        onApplied(caller.name, verb, answer, args, arrivedMs)
        intrusion?.after?.()
        if (fault === 'crash after') return caller.kill()
        if (fault === 'stall') caller.pause(stallMs(seed, call, leaseMs))
        if (fault === 'sleep') caller.suspend(Math.max(stallMs(seed, call, leaseMs), SUSPEND_MS_MIN))
        base.timer(total - there, () => {
          if (fault === 'lose reply') refuse('the reply was lost')
          else caller.whenAwake(() => ('error' in answer ? reject(answer.error) : resolve(answer.value)))
        })
      })
    })
  }

  /** Calls `arrive` in so many milliseconds, or when the request arrives that was sent at the same moment. */
  #deliver(verb: string, ms: number, arrive: () => void): void {
    const { base, bundlesCreates } = this.#world
    if (!bundlesCreates || verb !== 'runs.create') return void base.timer(ms, arrive)
    const sentAt = base.mono()
    if (this.#bundle?.sentAt === sentAt) return void this.#bundle.requests.push(arrive)
    const bundle = { sentAt, requests: [arrive] }
    this.#bundle = bundle
    base.timer(ms, () => {
      if (this.#bundle === bundle) this.#bundle = null
      for (const request of bundle.requests) request()
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
