// A world of schedules: several processes that only fire schedules, with the faults of a seed, a person who defines schedules anew, and one who
// deletes their runs. It is apart from the world of runs, whose history it would blur.
//   I43. With `misfire: 'all'`, each time from the first to the last that was used has a run; with any policy, what is due does not stay due.
import { createDurably } from '../../durably.ts'
import { type Env, iso } from '../../model/env.ts'
import { isTerminal } from '../../model/run.ts'
import type { ScheduleRow } from '../../model/schedule.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { NewSchedule } from '../../store/cluster/schedules.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import { virtualEnv } from '../virtual-env.ts'
import { chance, oneOf, pick } from './chance.ts'
import { FaultPlan, type Timed } from './fault-plan.ts'
import { ScheduleAudit } from './schedule-audit.ts'
import { SimProcess } from './sim-process.ts'
import type { OpenedStore } from './simulate.ts'
import { isFaultFree } from './world-kinds.ts'

const FAULT_MS = 80_000
/** Longer than any pause, a lease and the time until the next look. */
const HEAL_MS_MAX = 200_000
const HEAL_LOOK_MS = 5000
/** The lease of the leader: pauses are as long as it, or longer. */
const LEASE_MS = 10_000
const RESTART_MS_MAX = 15_000
/** A lease, a second, and the longest pause between two looks. */
const LATE_MS_MAX = LEASE_MS + 1000 + 5000
const COMMANDS = 12
const CLEANINGS = 10

export interface SimulatedSchedules {
  violations: Violation[]
  faults: string[]
  /** Runs of schedules, changes of the leader, and firings of processes that led no more. */
  scheduled: number
  elections: number
  refusals: number
}

interface Options {
  seed: number
  without: ReadonlySet<string>
  openStore: (env: Env) => Promise<OpenedStore>
}

export async function simulateSchedules(options: Options): Promise<SimulatedSchedules> {
  return new ScheduleWorld(options).run()
}

class ScheduleWorld {
  readonly #seed: number
  readonly #options: Options
  readonly #base
  readonly #plan: FaultPlan
  readonly #processes = new Map<string, SimProcess>()
  #offsetMs = 0
  #hasGoneBack = false
  #store!: Store
  #cluster!: ClusterStore
  #audit!: ScheduleAudit

  constructor(options: Options) {
    const { seed, without } = options
    this.#options = options
    this.#seed = seed
    this.#base = virtualEnv({ seed, isClosed: true })
    this.#plan = new FaultPlan({ seed, faultMs: FAULT_MS, without, faultFree: isFaultFree(seed) })
  }

  async run(): Promise<SimulatedSchedules> {
    const { store } = await this.#options.openStore({ ...this.#base, wall: () => this.#storeMs() })
    await store.migrate()
    if (!store.cluster) throw new Error('the store has no schedules')
    this.#audit = new ScheduleAudit(store.cluster, () => this.#storeMs())
    this.#cluster = this.#audit.over()
    this.#store = { ...store, cluster: this.#cluster }
    for (const id of SCHEDULES) await this.#cluster.putSchedule(this.#definition(id, null))
    for (let i = 0; i < pick(this.#seed, 'leaders', 2, 4); i++) this.#start(`s${i}`, 0)
    for (const timed of this.#plan.timed()) this.#base.timer(timed.atMs, () => this.#inject(timed))
    for (let i = 0; i < COMMANDS; i++) this.#at(`command ${i}`, () => this.#defineAnew(i))
    for (let i = 0; i < CLEANINGS; i++) this.#at(`cleaning ${i}`, () => this.#clean())
    await this.#base.advance(FAULT_MS)
    await this.#heal()
    await this.#judge()
    await store.close()
    const { violations, slots, leader, refused } = this.#audit
    const scheduled = Array.from(slots.values()).reduce((sum, { size }) => sum + size, 0)
    return { violations, faults: this.#plan.happened, scheduled, elections: leader.changes, refusals: refused }
  }

  /** Until every process has been there and awake, and no time overdue, for longer than a time may be due. */
  async #heal(): Promise<void> {
    this.#plan.healed = true
    const isAwake = ({ alive, wokeAt }: SimProcess) => alive && wokeAt <= this.#base.mono()
    let wellMs = 0
    for (let healed = 0; healed < HEAL_MS_MAX && wellMs <= LATE_MS_MAX; healed += HEAL_LOOK_MS) {
      await this.#base.advance(HEAL_LOOK_MS)
      const isWell = [...this.#processes.values()].every(isAwake) && (await this.#schedules()).every((one) => !this.#isOverdue(one))
      wellMs = isWell ? wellMs + HEAL_LOOK_MS : 0
    }
  }

  async #schedules(): Promise<ScheduleRow[]> {
    return (await this.#cluster.findSchedules({ limit: SCHEDULES.length })).schedules
  }

  #isOverdue({ nextAt }: ScheduleRow): boolean {
    return this.#storeMs() - nextAt > LATE_MS_MAX
  }

  #at(what: string, act: () => unknown): void {
    this.#base.timer(pick(this.#seed, `time of ${what}`, 0, FAULT_MS), act)
  }

  #storeMs(): number {
    return this.#base.wall() + this.#offsetMs
  }

  #start(name: string, life: number): void {
    const process = new SimProcess(`${name}.${life}`, {
      ...{ seed: this.#seed, base: this.#base, store: this.#store, storeMs: () => this.#storeMs(), plan: this.#plan, leaseMs: LEASE_MS },
      onApplied: () => {},
      onDeath: () => {
        const restartMs = pick(this.#seed, `restart of ${name}.${life}`, 100, RESTART_MS_MAX)
        this.#base.timer(restartMs, () => this.#start(name, life + 1))
      },
    })
    this.#processes.set(name, process)
    const pollingInterval = oneOf(this.#seed, `polling of ${name}`, [1000, 2000, 5000])
    createDurably({ store: process.store, env: process.env, workerId: name, logger: false, pollingInterval }).start()
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
    else if (fault === 'clock jump') this.#jump(pick(this.#seed, `${name} by`, -60_000, 60_000))
    else process?.pause(ms)
  }

  #jump(ms: number): void {
    this.#offsetMs += ms
    this.#hasGoneBack ||= ms < 0
  }

  #definition(id: Id, version: number | null): NewSchedule {
    const everyMs = id === 'all' ? 3000 : oneOf(this.#seed, `interval of ${id} ${version}`, [1000, 2000, 5000])
    const policies = { misfire: id === 'all' ? 'all' : 'once', misfireMax: 1000, overlap: id === 'skip' ? 'skip' : 'allow' } as const
    const runs = { jobName: 'tick', payload: null, concurrencyKey: null, labels: null }
    // Also a time that was used before, if the clock was set back since: the store must not use it again.
    const nextAt = (Math.floor(this.#storeMs() / everyMs) + 1) * everyMs
    return { id, version, nextAt, cron: null, everyMs, timezone: 'UTC', jitterMs: 0, ...policies, ...runs }
  }

  /** While a leader may be about to fire it. */
  async #defineAnew(command: number): Promise<void> {
    const id = oneOf(this.#seed, `command ${command} of`, ['once', 'skip'] as const)
    const { schedules } = await this.#cluster.findSchedules({ id, limit: 1 })
    const version = schedules[0]?.version
    if (version !== undefined) await this.#cluster.putSchedule(this.#definition(id, version))
  }

  /** Cancels runs and deletes those that have ended. */
  async #clean(): Promise<void> {
    for (const { id, status } of await this.#store.runs.list({}))
      if (isTerminal(status)) await this.#store.runs.delete(id)
      else if (chance(this.#seed, `clean ${id}`) < 0.7) await this.#store.runs.cancel(id)
  }

  async #judge(): Promise<void> {
    for (const schedule of await this.#schedules()) {
      const { id, everyMs, nextAt } = schedule
      const broken = (what: string) => this.#audit.violations.push({ invariant: 'I43', runId: null, what: `schedule ${id}: ${what}` })
      if (this.#isOverdue(schedule)) broken(`the time ${iso(nextAt)} is due since ${this.#storeMs() - nextAt} ms`)
      if (id !== 'all') continue
      const slots = Array.from(this.#audit.slots.get(id)?.keys() ?? []).sort((a, b) => a - b)
      const missing = slots.filter((slot, i) => i > 0 && slot - (slots[i - 1] ?? 0) !== everyMs)
      if (missing.length > 0) broken(`no run for the time before ${missing.map(iso)}`)
      if (slots.length === 0 && !this.#hasGoneBack) broken('no run at all')
    }
  }
}

const SCHEDULES = ['all', 'once', 'skip'] as const
type Id = (typeof SCHEDULES)[number]
