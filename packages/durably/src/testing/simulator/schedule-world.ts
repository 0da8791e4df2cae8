// A world of schedules: several processes that only fire schedules, with the faults of a seed, a person who defines schedules anew, and one who
// deletes their runs.
//   I43. With `misfire: 'all'`, each time from the first to the last that was used has a run; with any policy, what is due does not stay due.
import { createDurably } from '../../durably.ts'
import { iso } from '../../model/env.ts'
import type { ScheduleRow } from '../../model/schedule.ts'
import type { NewSchedule } from '../../store/cluster/schedules.ts'
import type { Violation } from '../invariants/index.ts'
import { oneOf, pick } from './chance.ts'
import { DutyWorld, type DutyWorldOptions, FAULT_MS, LEASE_MS } from './duty-world.ts'
import { ScheduleAudit } from './schedule-audit.ts'
import type { SimProcess } from './sim-process.ts'

/** A lease, a second, and the longest pause between two looks. */
const LATE_MS_MAX = LEASE_MS + 1000 + 5000
const COMMANDS = 12

export interface SimulatedSchedules {
  violations: Violation[]
  faults: string[]
  /** Runs of schedules, changes of the leader, and firings of processes that led no more. */
  scheduled: number
  elections: number
  refusals: number
}

export async function simulateSchedules(options: DutyWorldOptions): Promise<SimulatedSchedules> {
  return new ScheduleWorld(new DutyWorld(options)).run()
}

class ScheduleWorld {
  readonly #world: DutyWorld
  readonly #seed: number
  #audit!: ScheduleAudit

  constructor(world: DutyWorld) {
    this.#world = world
    this.#seed = world.seed
  }

  async run(): Promise<SimulatedSchedules> {
    const world = this.#world
    await world.open((cluster) => {
      this.#audit = new ScheduleAudit(cluster, () => world.storeMs())
      return this.#audit.over()
    })
    for (const id of SCHEDULES) await world.cluster.putSchedule(this.#definition(id, null))
    for (let i = 0; i < pick(this.#seed, 'leaders', 2, 4); i++) world.start(`s${i}`, (process, name) => this.#fire(process, name))
    world.scheduleFaults()
    for (let i = 0; i < COMMANDS; i++) world.at(`command ${i}`, () => this.#defineAnew(i))
    await world.base.advance(FAULT_MS)
    // Until no time is overdue, for longer than a time may be due.
    await world.heal(LATE_MS_MAX, async () => (await this.#schedules()).every((one) => !this.#isOverdue(one)))
    await this.#judge()
    await world.store.close()
    const { violations, slots, leader, refused } = this.#audit
    const scheduled = Array.from(slots.values()).reduce((sum, { size }) => sum + size, 0)
    return { violations, faults: world.plan.happened, scheduled, elections: leader.changes, refusals: refused }
  }

  #fire({ store, env }: SimProcess, name: string): void {
    const pollingInterval = oneOf(this.#seed, `polling of ${name}`, [1000, 2000, 5000])
    createDurably({ store, env, workerId: name, logger: false, pollingInterval }).start()
  }

  async #schedules(): Promise<ScheduleRow[]> {
    return (await this.#world.cluster.findSchedules({ limit: SCHEDULES.length })).schedules
  }

  #isOverdue({ nextAt }: ScheduleRow): boolean {
    return this.#world.storeMs() - nextAt > LATE_MS_MAX
  }

  #definition(id: Id, version: number | null): NewSchedule {
    const everyMs = id === 'all' ? 3000 : oneOf(this.#seed, `interval of ${id} ${version}`, [1000, 2000, 5000])
    const policies = { misfire: id === 'all' ? 'all' : 'once', misfireMax: 1000, overlap: id === 'skip' ? 'skip' : 'allow' } as const
    const runs = { jobName: 'tick', payload: null, concurrencyKey: null, labels: null }
    // Also a time that was used before, if the clock was set back since: the store must not use it again.
    const nextAt = (Math.floor(this.#world.storeMs() / everyMs) + 1) * everyMs
    return { id, version, nextAt, cron: null, everyMs, timezone: 'UTC', jitterMs: 0, ...policies, ...runs }
  }

  /** While a leader may be about to fire it. */
  async #defineAnew(command: number): Promise<void> {
    const id = oneOf(this.#seed, `command ${command} of`, ['once', 'skip'] as const)
    const { schedules } = await this.#world.cluster.findSchedules({ id, limit: 1 })
    const version = schedules[0]?.version
    if (version !== undefined) await this.#world.cluster.putSchedule(this.#definition(id, version))
  }

  async #judge(): Promise<void> {
    for (const schedule of await this.#schedules()) {
      const { id, everyMs, nextAt } = schedule
      const broken = (what: string) => this.#audit.violations.push({ invariant: 'I43', runId: null, what: `schedule ${id}: ${what}` })
      if (this.#isOverdue(schedule)) broken(`the time ${iso(nextAt)} is due since ${this.#world.storeMs() - nextAt} ms`)
      if (id !== 'all') continue
      const slots = Array.from(this.#audit.slots.get(id)?.keys() ?? []).sort((a, b) => a - b)
      const missing = slots.filter((slot, i) => i > 0 && slot - (slots[i - 1] ?? 0) !== everyMs)
      if (missing.length > 0) broken(`no run for the time before ${missing.map(iso)}`)
      if (slots.length === 0 && !this.#world.hasGoneBack) broken('no run at all')
    }
  }
}

const SCHEDULES = ['all', 'once', 'skip'] as const
type Id = (typeof SCHEDULES)[number]
