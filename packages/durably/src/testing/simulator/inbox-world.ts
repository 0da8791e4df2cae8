// A world of events: several processes that only deliver, senders that repeat themselves, jobs that subscribe meanwhile, and somebody who deletes
// their runs, with the faults of a seed.
//   I53. Each event that was stored is delivered in the end.
import { createDurably } from '../../durably.ts'
import type { Violation } from '../invariants/index.ts'
import { chance, oneOf, pick } from './chance.ts'
import { DutyWorld, type DutyWorldOptions, FAULT_MS, LEASE_MS } from './duty-world.ts'
import { InboxAudit } from './inbox-audit.ts'
import type { SimProcess } from './sim-process.ts'
import { STALL_LEASES_MAX } from './store-line.ts'

const AGAIN_MS_MAX = 5000
/** Longer than a sender stands still before it repeats itself, and than a lease. */
const QUIET_MS = LEASE_MS * STALL_LEASES_MAX + AGAIN_MS_MAX
const EVENTS = 40
const KEYS = 15
const JOBS = 8

export interface SimulatedInbox {
  violations: Violation[]
  faults: string[]
  /** Events that were delivered, and deliveries of processes that led no more. */
  events: number
  eventRefusals: number
}

export async function simulateInbox(options: DutyWorldOptions): Promise<SimulatedInbox> {
  return new InboxWorld(new DutyWorld(options)).run()
}

class InboxWorld {
  readonly #world: DutyWorld
  readonly #seed: number
  #audit!: InboxAudit

  constructor(world: DutyWorld) {
    this.#world = world
    this.#seed = world.seed
  }

  async run(): Promise<SimulatedInbox> {
    const world = this.#world
    await world.open((cluster) => {
      this.#audit = new InboxAudit(cluster)
      return this.#audit.over()
    })
    for (let i = 0; i < pick(this.#seed, 'deliverers', 2, 4); i++) world.start(`d${i}`, (process, name) => this.#deliver(process, name))
    world.scheduleFaults()
    for (let i = 0; i < EVENTS; i++) world.at(`event ${i}`, () => this.#send(i))
    for (let i = 0; i < JOBS; i++) world.at(`job ${i}`, () => this.#subscribe(i))
    await world.base.advance(FAULT_MS)
    await world.heal(QUIET_MS, async () => this.#undelivered === 0)
    await world.store.close()
    const { violations, events, refused } = this.#audit
    const undelivered = this.#undelivered
    if (undelivered > 0) violations.push({ invariant: 'I53', runId: null, what: `${undelivered} events were never delivered` })
    return { violations, faults: world.plan.happened, events: events.size - undelivered, eventRefusals: refused }
  }

  get #undelivered(): number {
    return Array.from(this.#audit.events.values()).filter(({ isDelivered }) => !isDelivered).length
  }

  #deliver({ store, env }: SimProcess, name: string): void {
    const heartbeatInterval = oneOf(this.#seed, `heartbeat of ${name}`, [500, 1000, 3000])
    createDurably({ store, env, logger: false, heartbeatInterval }).start()
  }

  /** Each sender is a process of its own. It repeats what was not acknowledged, and some repeat what was. */
  #send(event: number): void {
    const process = this.#world.process(`sender ${event}`, () => {})
    const durably = createDurably({ store: process.store, env: process.env, logger: false })
    const name = oneOf(this.#seed, `name of event ${event}`, ['a', 'b'])
    const data = { n: pick(this.#seed, `data of event ${event}`, 0, 2) }
    const options = chance(this.#seed, `has key ${event}`) < 0.7 ? { dedupeKey: `k${pick(this.#seed, `key ${event}`, 0, KEYS)}` } : {}
    const again = () => {
      const ms = pick(this.#seed, `pause of sender ${event} at ${this.#world.base.mono()}`, 100, AGAIN_MS_MAX)
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
    await this.#world.cluster.putDefinitions([{ name: `job ${job}`, input: null, subscriptions: JSON.stringify([{ event, filter }]) }])
    await this.#world.cluster.putEvent({ id: this.#world.base.id(), name: event, data: JSON.stringify({ n }), dedupeKey: null })
  }
}
