// A world of events: several processes that only deliver, senders that repeat themselves, jobs that subscribe meanwhile, and somebody who deletes
// their runs, with the faults of a seed. It is apart from the world of runs, whose history it would blur.
//   I53. Each event that was stored is delivered in the end.
import { createDurably } from '../../durably.ts'
import type { Env } from '../../model/env.ts'
import { isTerminal } from '../../model/run.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import { virtualEnv } from '../virtual-env.ts'
import { chance, oneOf, pick } from './chance.ts'
import { FaultPlan, type Timed } from './fault-plan.ts'
import { InboxAudit } from './inbox-audit.ts'
import { SimProcess } from './sim-process.ts'
import type { OpenedStore } from './simulate.ts'
import { isFaultFree } from './world-kinds.ts'

const FAULT_MS = 80_000
/** Longer than any pause, a lease and the time until the next look. */
const HEAL_MS = 200_000
/** The lease of the leader: pauses are as long as it, or longer. */
const LEASE_MS = 10_000
const RESTART_MS_MAX = 15_000
const AGAIN_MS_MAX = 5000
const EVENTS = 40
const KEYS = 15
const JOBS = 8
const CLEANINGS = 10

export interface SimulatedInbox {
  violations: Violation[]
  faults: string[]
  /** Events that were delivered, and deliveries of processes that led no more. */
  events: number
  eventRefusals: number
}

interface Options {
  seed: number
  without: ReadonlySet<string>
  openStore: (env: Env) => Promise<OpenedStore>
}

export async function simulateInbox(options: Options): Promise<SimulatedInbox> {
  return new InboxWorld(options).run()
}

class InboxWorld {
  readonly #seed: number
  readonly #options: Options
  readonly #base
  readonly #plan: FaultPlan
  readonly #processes = new Map<string, SimProcess>()
  #offsetMs = 0
  #store!: Store
  #cluster!: ClusterStore
  #audit!: InboxAudit

  constructor(options: Options) {
    const { seed, without } = options
    this.#options = options
    this.#seed = seed
    this.#base = virtualEnv({ seed, isClosed: true })
    this.#plan = new FaultPlan({ seed, faultMs: FAULT_MS, without, faultFree: isFaultFree(seed) })
  }

  async run(): Promise<SimulatedInbox> {
    const { store } = await this.#options.openStore({ ...this.#base, wall: () => this.#storeMs() })
    await store.migrate()
    if (!store.cluster) throw new Error('the store has no inbox')
    this.#audit = new InboxAudit(store.cluster)
    this.#cluster = this.#audit.over()
    this.#store = { ...store, cluster: this.#cluster }
    for (let i = 0; i < pick(this.#seed, 'deliverers', 2, 4); i++) this.#start(`d${i}`, 0)
    for (const timed of this.#plan.timed()) this.#base.timer(timed.atMs, () => this.#inject(timed))
    for (let i = 0; i < EVENTS; i++) this.#at(`event ${i}`, () => this.#send(i))
    for (let i = 0; i < JOBS; i++) this.#at(`job ${i}`, () => this.#subscribe(i))
    for (let i = 0; i < CLEANINGS; i++) this.#at(`cleaning of events ${i}`, () => this.#clean())
    await this.#base.advance(FAULT_MS)
    this.#plan.healed = true
    await this.#base.advance(HEAL_MS)
    await store.close()
    const { violations, events, refused } = this.#audit
    const delivered = Array.from(events.values()).filter(({ isDelivered }) => isDelivered)
    if (delivered.length < events.size)
      violations.push({ invariant: 'I53', runId: null, what: `${events.size - delivered.length} events were never delivered` })
    return { violations, faults: this.#plan.happened, events: delivered.length, eventRefusals: refused }
  }

  #at(what: string, act: () => unknown): void {
    this.#base.timer(pick(this.#seed, `time of ${what}`, 0, FAULT_MS), act)
  }

  #storeMs(): number {
    return this.#base.wall() + this.#offsetMs
  }

  #start(name: string, life: number): void {
    const process = this.#process(`${name}.${life}`, () => {
      const restartMs = pick(this.#seed, `restart of ${name}.${life}`, 100, RESTART_MS_MAX)
      this.#base.timer(restartMs, () => this.#start(name, life + 1))
    })
    this.#processes.set(name, process)
    const heartbeatInterval = oneOf(this.#seed, `heartbeat of ${name}`, [500, 1000, 3000])
    createDurably({ store: process.store, env: process.env, logger: false, heartbeatInterval }).start()
  }

  #process(name: string, onDeath: () => void): SimProcess {
    return new SimProcess(name, {
      ...{ seed: this.#seed, base: this.#base, store: this.#store, storeMs: () => this.#storeMs(), plan: this.#plan, leaseMs: LEASE_MS },
      onApplied: () => {},
      onDeath,
    })
  }

  #inject({ fault, name }: Timed): void {
    if (this.#plan.healed) return
    const all = [...this.#processes.values()]
    const process = all[pick(this.#seed, `${name} target`, 0, all.length - 1)]
    const ms = pick(this.#seed, `${name} ms`, 1000, 60_000)
    this.#plan.happened.push(name)
    if (fault === 'kill' || fault === 'stop') process?.kill()
    else if (fault === 'suspend all') for (const one of all) one.suspend(ms)
    else if (fault === 'suspend') process?.suspend(ms)
    else if (fault === 'clock jump') this.#offsetMs += pick(this.#seed, `${name} by`, -60_000, 60_000)
    else process?.pause(ms)
  }

  /** Each sender is a process of its own. It repeats what was not acknowledged, and some repeat what was. */
  #send(event: number): void {
    const process = this.#process(`sender ${event}`, () => {})
    const durably = createDurably({ store: process.store, env: process.env, logger: false })
    const name = oneOf(this.#seed, `name of event ${event}`, ['a', 'b'])
    const data = { n: pick(this.#seed, `data of event ${event}`, 0, 2) }
    const options = chance(this.#seed, `has key ${event}`) < 0.7 ? { dedupeKey: `k${pick(this.#seed, `key ${event}`, 0, KEYS)}` } : {}
    const again = () => {
      const ms = pick(this.#seed, `pause of sender ${event} at ${this.#base.mono()}`, 100, AGAIN_MS_MAX)
      process.env.timer(ms, send)
    }
    const send = () => {
      durably.send(name, data, options).catch(again)
    }
    send()
    if (chance(this.#seed, `repeats ${event}`) < 0.3) again()
  }

  /** An event is sent at once after it, which must not miss it. */
  async #subscribe(job: number): Promise<void> {
    const event = oneOf(this.#seed, `subscription ${job}`, ['a', 'b'])
    const n = pick(this.#seed, `filter ${job}`, 0, 2)
    const filter = chance(this.#seed, `has filter ${job}`) < 0.5 ? { n } : {}
    await this.#cluster.putDefinitions([{ name: `job ${job}`, input: null, subscriptions: JSON.stringify([{ event, filter }]) }])
    await this.#cluster.putEvent({ id: this.#base.id(), name: event, data: JSON.stringify({ n }), dedupeKey: null })
  }

  /** Cancels runs and deletes those that have ended. */
  async #clean(): Promise<void> {
    for (const { id, status } of await this.#store.runs.list({}))
      if (isTerminal(status)) await this.#store.runs.delete(id)
      else if (chance(this.#seed, `clean ${id}`) < 0.7) await this.#store.runs.cancel(id)
  }
}
