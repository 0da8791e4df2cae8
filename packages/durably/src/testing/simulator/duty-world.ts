// What the worlds of one duty of the cluster share: processes that only perform that duty, the faults of a seed, a store whose clock jumps, and
// somebody who deletes runs. They are apart from the world of runs, whose history they would blur.
import type { Env } from '../../model/env.ts'
import { isTerminal } from '../../model/run.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { Store } from '../../store/store.ts'
import { virtualEnv } from '../virtual-env.ts'
import { chance, pick } from './chance.ts'
import { FaultPlan, type Timed } from './fault-plan.ts'
import { SimProcess } from './sim-process.ts'
import type { OpenedStore } from './simulate.ts'
import { isFaultFree } from './world-kinds.ts'

export const FAULT_MS = 80_000
/** Longer than any pause, a lease and the time until the next look. */
const HEAL_MS_MAX = 200_000
const HEAL_LOOK_MS = 5000
/** The lease of the leader: pauses are as long as it, or longer. */
export const LEASE_MS = 10_000
const RESTART_MS_MAX = 15_000
const CLEANINGS = 10

export interface DutyWorldOptions {
  seed: number
  without: ReadonlySet<string>
  openStore: (env: Env, seed: number) => Promise<OpenedStore>
}

export class DutyWorld {
  readonly seed: number
  readonly base
  readonly plan: FaultPlan
  readonly processes = new Map<string, SimProcess>()
  readonly #openStore: DutyWorldOptions['openStore']
  #offsetMs = 0
  hasGoneBack = false
  store!: Store
  cluster!: ClusterStore

  constructor({ seed, without, openStore }: DutyWorldOptions) {
    this.#openStore = openStore
    this.seed = seed
    this.base = virtualEnv({ seed, isClosed: true })
    this.plan = new FaultPlan({ seed, faultMs: FAULT_MS, without, faultFree: isFaultFree(seed) })
  }

  /** `audited` passes each call on to the store, and watches it. */
  async open(audited: (cluster: ClusterStore) => ClusterStore): Promise<void> {
    const { store } = await this.#openStore({ ...this.base, wall: () => this.storeMs() }, this.seed)
    await store.migrate()
    if (!store.cluster) throw new Error('the store has no chapter about clusters')
    this.cluster = audited(store.cluster)
    this.store = { ...store, cluster: this.cluster }
  }

  /** The faults of the seed, and somebody who deletes runs, each at a time of their own. */
  scheduleFaults(): void {
    for (const timed of this.plan.timed()) this.base.timer(timed.atMs, () => this.#inject(timed))
    for (let i = 0; i < CLEANINGS; i++) this.at(`cleaning ${i}`, () => this.#clean())
  }

  at(what: string, act: () => unknown): void {
    this.base.timer(pick(this.seed, `time of ${what}`, 0, FAULT_MS), act)
  }

  storeMs(): number {
    return this.base.wall() + this.#offsetMs
  }

  /** Without faults, until every process has been there and awake, and all was well, for longer than `quietMs`. */
  async heal(quietMs: number, isWell: () => Promise<boolean>): Promise<void> {
    this.plan.healed = true
    const isAwake = ({ alive, wokeAt }: SimProcess) => alive && wokeAt <= this.base.mono()
    let wellMs = 0
    for (let healed = 0; healed < HEAL_MS_MAX && wellMs <= quietMs; healed += HEAL_LOOK_MS) {
      await this.base.advance(HEAL_LOOK_MS)
      wellMs = [...this.processes.values()].every(isAwake) && (await isWell()) ? wellMs + HEAL_LOOK_MS : 0
    }
  }

  /** A process that is started again after it died. */
  start(name: string, work: (process: SimProcess, name: string) => void, life = 0): void {
    const process = this.process(`${name}.${life}`, () => {
      const restartMs = pick(this.seed, `restart of ${name}.${life}`, 100, RESTART_MS_MAX)
      this.base.timer(restartMs, () => this.start(name, work, life + 1))
    })
    this.processes.set(name, process)
    work(process, name)
  }

  process(name: string, onDeath: () => void): SimProcess {
    return new SimProcess(name, {
      ...{ seed: this.seed, base: this.base, store: this.store, storeMs: () => this.storeMs(), plan: this.plan, leaseMs: LEASE_MS },
      onApplied: () => {},
      onDeath,
    })
  }

  #inject({ fault, name }: Timed): void {
    if (this.plan.healed) return
    const all = [...this.processes.values()]
    const process = all[pick(this.seed, `${name} target`, 0, all.length - 1)]
    const ms = pick(this.seed, `${name} ms`, 1000, 60_000)
    this.plan.happened.push(name)
    if (fault === 'kill' || fault === 'stop') process?.kill()
    else if (fault === 'suspend all') for (const one of all) one.suspend(ms)
    else if (fault === 'suspend') process?.suspend(ms)
    else if (fault === 'clock jump') this.#jump(pick(this.seed, `${name} by`, -60_000, 60_000))
    else process?.pause(ms)
  }

  #jump(ms: number): void {
    this.#offsetMs += ms
    this.hasGoneBack ||= ms < 0
  }

  /** Cancels runs and deletes those that have ended. */
  async #clean(): Promise<void> {
    for (const { id, status } of await this.store.runs.list({}))
      if (isTerminal(status)) await this.store.runs.delete(id)
      else if (chance(this.seed, `clean ${id}`) < 0.7) await this.store.runs.cancel(id)
  }
}
