// RunWorld — several workers share a store, faults are injected for a while, then they stop, and when every run has ended the invariants are
// checked. The engine is the real one; time, the connections to the store and crashes are simulated.
import { createDurably, type Durably } from '../../durably.ts'
import { forgetScopes } from '../../model/env.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { ActorOption } from '../../store/cluster/audited.ts'
import type { Store } from '../../store/store.ts'
import { readRows, type Violation } from '../invariants/index.ts'
import { type VirtualEnv, virtualEnv } from '../virtual-env.ts'
import { Archive } from './archive.ts'
import { readBookings } from './bookings.ts'
import { chance, oneOf, pick } from './chance.ts'
import { ExplainedRuns } from './explained-runs.ts'
import { FaultInjector, type SimWorker } from './fault-injector.ts'
import { type CallFaults, FaultPlan } from './fault-plan.ts'
import { FleetPlan, type Order } from './fleet-plan.ts'
import { checkFoundByLabels } from './found-by-labels.ts'
import { loadLazyCode } from './load-lazy-code.ts'
import { VALUE_BYTES_MAX } from './misfit.ts'
import { Outsiders } from './outsiders.ts'
import { Partitions } from './partitions.ts'
import { planRuns } from './plan-runs.ts'
import { rejecting } from './rejecting-store.ts'
import { SimClient } from './sim-client.ts'
import { OPERATOR, SimFleet } from './sim-fleet.ts'
import { SimLedger } from './sim-ledger.ts'
import { SimProcess, type SimWorld } from './sim-process.ts'
import type { OpenedStore, Simulated, SimulateOptions } from './simulate.ts'
import { planSteadyJobs, type SteadyJobs } from './steady-jobs.ts'
import { type Answer, SLOW_LEASES_MAX } from './store-line.ts'
import { TabAudit } from './tab-audit.ts'
import { defineWorkload, type SimJobs } from './workload.ts'
import { WorldAudit } from './world-audit.ts'
import { isFaultFree, isRushHour, isWorldOfCrowds } from './world-kinds.ts'

const FAULT_MS = 80_000
/** Longer than any machine sleeps. */
const HEAL_MS_MAX = 5_400_000
const HEAL_LOOK_MS = 10_000
/** Longer than the engine waits for functions whose signal was aborted. */
const QUIET_MS = 1000
const ANSWER_MS = 100
const LEASE_MS_OF_CROWDS = 3000
/** Every worker archives once in a minute, and removes the files of deleted runs. */
const TIDYING_MS = 130_000
/** In half of the worlds with crowds a worker can execute all children of a crowd at once. */
const ROOM_FOR_CROWDS = 150
/** How often all unfinished runs are explained while there are faults; afterwards they are at every look. */
const EXPLAINED_IN_FAULTS = 3
/** The share of worlds in which the workers purge ended runs (`retention`). */
const RETENTION_SHARE = 0.15
/** The share of worlds on SQL in which runs that are created at the same moment arrive together, and share a commit. */
const BUNDLES_SHARE = 0.5
/** The share of worlds whose workers are tabs of one browser. */
const TABS_SHARE = 0.2

export class RunWorld {
  readonly #seed: number
  readonly #options: Required<Omit<SimulateOptions, 'seenBeside'>>
  readonly #base: VirtualEnv
  readonly #plan: FaultPlan
  /** Those of the plan, and partitions where the workers are a fleet. */
  readonly #callFaults: CallFaults
  readonly #leaseMs: number
  readonly #faultFree: boolean
  readonly #isRush: boolean
  readonly #hasRoom: boolean
  readonly #maxRecoveries: number
  readonly #trace: string[] = []
  readonly #ledger = new SimLedger()
  readonly #archive = new Archive(
    () => this.#storeMs(),
    () => this.#ledger.place(),
  )
  readonly #steadyJobs: SteadyJobs
  readonly #hasTabs: boolean
  readonly #fleet: SimFleet | undefined
  readonly #workers = new Map<string, SimWorker>()
  #dbOffsetMs = 0
  #store!: Store
  #listRuns!: () => Promise<RunRow[]>
  #sql: OpenedStore['sql']
  #audit!: WorldAudit
  #faults!: FaultInjector
  #tabs: TabAudit | undefined
  #explained!: ExplainedRuns
  #client!: SimClient
  #outsiders!: Outsiders
  #kills = 0
  readonly #stuck: Violation[] = []

  /** `isFleet`: its workers are a fleet. */
  constructor(options: Required<Omit<SimulateOptions, 'seenBeside'>>, isFleet = false) {
    const { seed } = options
    this.#options = options
    this.#seed = seed
    this.#base = virtualEnv({ seed, isClosed: true })
    this.#isRush = isRushHour(seed)
    this.#hasRoom = isWorldOfCrowds(seed) && chance(seed, 'room') < 0.5
    this.#faultFree = isFaultFree(seed)
    this.#plan = new FaultPlan({ seed, faultMs: FAULT_MS, without: options.without, faultFree: this.#faultFree })
    this.#maxRecoveries = oneOf(seed, 'cap', [1, 2, 6])
    this.#leaseMs = isWorldOfCrowds(seed) ? LEASE_MS_OF_CROWDS : oneOf(seed, 'lease', [3000, 10_000, 30_000])
    this.#steadyJobs = planSteadyJobs(seed, this.#leaseMs)
    this.#hasTabs = chance(seed, 'tabs') < TABS_SHARE
    this.#fleet = isFleet ? this.#gatherFleet() : undefined
    // The tabs of a browser are on one machine: none is cut off alone.
    this.#callFaults = isFleet && !this.#hasTabs ? this.#partitions() : this.#plan
  }

  async run(): Promise<Simulated> {
    await loadLazyCode(this.#base)
    const {
      store,
      sql,
      listRuns = () => store.runs.list({}),
    } = await this.#options.openStore({ ...this.#base, wall: () => this.#storeMs() }, this.#seed)
    const fleet = this.#fleet
    const kept = this.#archive.over(rejecting(store), fleet?.readable(store))
    this.#store = fleet?.over(kept) ?? kept
    this.#sql = sql
    this.#explained = new ExplainedRuns({
      store: this.#store,
      listRuns,
      storeMs: () => this.#storeMs(),
      isGone: (runId) => this.#archive.places.has(runId),
    })
    this.#listRuns = listRuns
    if (this.#hasTabs) this.#tabs = new TabAudit(this.#world(), this.#plan)
    this.#startAudit()
    await this.#store.migrate()
    this.#startOutsiders()
    this.#startClient()
    this.#createFaultInjector()
    const workers = this.#isRush ? 2 : pick(this.#seed, 'workers', 2, 4)
    for (let i = 0; i < workers; i++) this.#startWorker(`w${i}`, 0)
    for (const timed of this.#plan.timed()) this.#base.timer(timed.atMs, () => this.#faults.inject(timed))
    for (let i = 0; i < EXPLAINED_IN_FAULTS; i++)
      this.#base.timer(pick(this.#seed, `explained ${i}`, 0, FAULT_MS), () => this.#explained.lookAtAll())
    for (const order of fleet?.plan.orders() ?? []) this.#base.timer(order.atMs, () => this.#order(order))
    try {
      await this.#base.advance(FAULT_MS)
      await this.#heal()
    } catch (error) {
      this.#stuck.push({ invariant: 'I5', runId: null, what: `the world makes no progress: ${error}` })
    }
    return this.#judge()
  }

  #gatherFleet(): SimFleet {
    const seed = this.#seed
    const plan = { seed, leaseMs: this.#leaseMs, faultMs: FAULT_MS, hasTabs: this.#hasTabs, faultFree: this.#faultFree }
    return new SimFleet({
      seed,
      plan: new FleetPlan(plan),
      env: this.#base,
      storeMs: () => this.#storeMs(),
      isAbandoned: (run) => this.#tabs?.isAbandoned(run) === true,
    })
  }

  #partitions(): Partitions {
    const { without } = this.#options
    const world = { seed: this.#seed, leaseMs: this.#leaseMs, faultMs: FAULT_MS, faultFree: this.#faultFree, without }
    return new Partitions({ ...world, plan: this.#plan, now: () => this.#base.mono() })
  }

  /** The store as its readers see it. */
  get #readable(): Store {
    return this.#fleet?.readable(this.#store) ?? this.#store
  }

  #order(order: Order): void {
    const { healed, happened } = this.#plan
    if (healed || this.#options.without.has(order.name)) return
    happened.push(order.name)
    this.#client.command(async (durably) => this.#fleet?.obey(durably, order))
  }

  #storeMs(): number {
    return this.#base.wall() + this.#dbOffsetMs
  }

  #world(): SimWorld {
    return {
      seed: this.#seed,
      base: this.#base,
      store: this.#store,
      storeMs: () => this.#storeMs(),
      plan: this.#callFaults,
      line: this.#sql?.line,
      leaseMs: this.#leaseMs,
      // The memory store makes nothing of it.
      bundlesCreates: this.#sql !== undefined && chance(this.#seed, 'bundles') < BUNDLES_SHARE,
      ...(isWorldOfCrowds(this.#seed) ? this.#narrowLine() : { latencyMs: oneOf(this.#seed, 'latency', [8, 8, 80]) }),
      onApplied: (...applied) => this.#applied(...applied),
      onDeath: (process) => this.#died(process),
    }
  }

  /** A hundred requests that are sent at once take about as long as a lease. */
  #narrowLine(): Pick<SimWorld, 'latencyMs' | 'lineWidth'> {
    const lineWidth = pick(this.#seed, 'line width', 2, 4)
    return { lineWidth, latencyMs: (2 * lineWidth * this.#leaseMs) / 100 }
  }

  #open(process: SimProcess): Durably {
    const store = this.#tabs?.storeOf(process) ?? process.store
    const durably = createDurably({
      store: this.#fleet?.storeOf(process, store) ?? store,
      env: process.env,
      workerId: process.name,
      logger: false,
      staleThreshold: this.#leaseMs,
      pollingInterval: oneOf(this.#seed, `polling of ${process.name}`, [1000, 2000, 5000]),
      concurrency: this.#hasRoom ? ROOM_FOR_CROWDS : pick(this.#seed, `concurrency of ${process.name}`, this.#isRush ? 4 : 1, 6),
      maxRecoveries: this.#maxRecoveries,
      maxValueBytes: VALUE_BYTES_MAX,
      ...(chance(this.#seed, 'retention') < RETENTION_SHARE && { retention: pick(this.#seed, 'kept', 5000, 40_000) }),
      ...this.#fleet?.optionsOf(process),
    })
    this.#ledger.recordAcknowledgements(durably, process)
    return durably
  }

  #startWorker(name: string, life: number): void {
    const onDeath = (dead: SimProcess) => {
      this.#died(dead)
      const restartMs = pick(this.#seed, `restart of ${dead.name}`, 100, 20_000)
      this.#base.timer(restartMs, () => this.#startWorker(name, life + 1))
    }
    const process = new SimProcess(`${name}.${life}`, { ...this.#world(), onDeath })
    const durably = this.#open(process)
    this.#define(durably, process)
    this.#workers.set(name, { process, durably })
    this.#fleet?.join(process, durably)
    durably.start()
  }

  #define(durably: Durably, process: SimProcess): SimJobs {
    return defineWorkload({ seed: this.#seed, durably, process, ledger: this.#ledger, steadyJobs: this.#steadyJobs, fleet: this.#fleet })
  }

  #startOutsiders(): void {
    const process = new SimProcess('outside', { ...this.#world(), plan: withoutDeath(this.#plan), onDeath: () => {} })
    this.#outsiders = new Outsiders({ seed: this.#seed, process, durably: this.#open(process), store: this.#store, ...this.#as })
  }

  #startClient(): void {
    const open = (process: SimProcess) => {
      const durably = this.#open(process)
      return { durably, jobs: this.#define(durably, process) }
    }
    const scope = { leaseMs: this.#leaseMs, withinMs: FAULT_MS / 2, hasTransactions: this.#sql !== undefined }
    this.#client = new SimClient({ world: this.#world(), ledger: this.#ledger, open }, planRuns(this.#seed, scope))
  }

  #startAudit(): void {
    this.#audit = new WorldAudit({
      store: this.#readable,
      listRuns: this.#listRuns,
      ledger: this.#ledger,
      archive: this.#archive,
      tabs: this.#tabs,
      fleet: this.#fleet,
      storeMs: () => this.#storeMs(),
      mono: () => this.#base.mono(),
      onLook: (runs) => this.#outsiders.see(runs),
    })
  }

  /** Who gives the commands: nobody outside of fleets, so that those worlds stay as they were. */
  get #as(): { as?: ActorOption } {
    return this.#fleet ? { as: OPERATOR } : {}
  }

  #createFaultInjector(): void {
    this.#faults = new FaultInjector({
      seed: this.#seed,
      plan: this.#plan,
      leaseMs: this.#leaseMs,
      store: this.#store,
      workers: this.#workers,
      client: this.#client,
      tabs: this.#tabs,
      hasOneConnection: this.#sql !== undefined,
      ...this.#as,
      setStoreClockBy: (ms) => {
        this.#dbOffsetMs += ms
      },
    })
  }

  #died(process: SimProcess): void {
    const { name } = process
    this.#tabs?.tabs.died(process)
    this.#kills++
    this.#ledger.processDied(name, this.#base.mono())
    this.#note(() => `${name} died`)
  }

  #applied(process: string, verb: string, answer: Answer, args: readonly unknown[], arrivedMs: number): void {
    this.#note(() => `${process} ${verb} ${verb === 'runs.probe' ? '' : JSON.stringify(answer)}`)
    this.#audit.applied(process, verb, answer, args, arrivedMs)
  }

  /** Takes a function, because to serialize an answer costs more than to produce it. */
  #note(what: () => string): void {
    if (this.#options.keepTrace) this.#trace.push(`${this.#base.mono()} ${what()}`)
  }

  async #heal(): Promise<void> {
    this.#plan.healed = true
    for (let healed = 0; healed < HEAL_MS_MAX; healed += HEAL_LOOK_MS) {
      await this.#base.advance(HEAL_LOOK_MS)
      if (this.#fleet) await this.#whenAnswered(this.#fleet.settle(this.#store))
      const runs = await this.#whenAnswered(this.#listRuns())
      if (runs.every((run) => isTerminal(run.status)) && !this.#client.isBusy) break
      await this.#whenAnswered(this.#explained.look(runs))
      this.#outsiders.giveUp(runs)
    }
    await this.#base.advance(this.#restMs())
    if (this.#fleet?.plan.isArchiving) await this.#tidyUp()
  }

  /** Until nothing was deleted for so long that the files of all deleted runs are removed, also by a machine that slept meanwhile. */
  async #tidyUp(): Promise<void> {
    const { places } = this.#archive
    for (let deleted = -1; deleted < places.size || this.#isTidiedLater(); await this.#base.advance(TIDYING_MS)) deleted = places.size
  }

  /** The files that are left may be those which a worker removes when it has been awake for a while: its minute goes by its own clock. */
  #isTidiedLater(): boolean {
    const awakeSince = this.#base.mono() - TIDYING_MS
    const isLate = [...this.#workers.values()].some(({ process: { alive, wokeAt } }) => alive && wokeAt > awakeSince)
    return isLate && this.#fleet?.hasFilesOf(this.#archive.places) === true
  }

  /** How long to wait before the checks, so that writes of workers that lost their lease, and slow requests, still reach the store. */
  #restMs(): number {
    if (this.#ledger.isAtWork) return this.#leaseMs * 2 + 5000
    const slowestArrivesAt = FAULT_MS + this.#leaseMs * SLOW_LEASES_MAX
    return Math.max(0, slowestArrivesAt - this.#base.mono()) + QUIET_MS
  }

  /** Lets time pass until the store has answered: a slow transaction may hold the only connection. */
  async #whenAnswered<T>(asked: Promise<T>): Promise<T> {
    let isAnswered = false
    const answered = () => {
      isAnswered = true
    }
    asked.then(answered, answered)
    for (await this.#base.idle(); !isAnswered; await this.#base.advance(ANSWER_MS));
    return asked
  }

  async #judge(): Promise<Simulated> {
    await this.#whenAnswered(Promise.all([this.#audit.looked, this.#explained.looked]))
    const kept = await this.#whenAnswered(readRows(this.#readable))
    const { violations, figures } = this.#audit.judge(kept, {
      bookings: this.#sql && (await readBookings(this.#sql.db)),
      maxRecoveries: this.#maxRecoveries,
      faultFree: this.#faultFree,
      hadClockJump: this.#plan.happened.some((fault) => fault.endsWith('clock jump')),
      steadyJobs: this.#steadyJobs,
    })
    const byLabels = await this.#whenAnswered(checkFoundByLabels(this.#store, kept.runs))
    const cuts = this.#sql?.line.cuts ?? 0
    await this.#store.close()
    forgetScopes()
    return {
      seed: this.#seed,
      violations: [...this.#stuck, ...this.#explained.violations, ...violations, ...byLabels],
      faults: this.#plan.happened,
      trace: this.#trace,
      figures: {
        ...figures,
        ...this.#faults.counts,
        scheduled: 0,
        elections: 0,
        refusals: 0,
        events: 0,
        eventRefusals: 0,
        cuts,
        kills: this.#kills,
        simulatedMs: this.#base.mono(),
      },
    }
  }
}

/** The same faults, except that the process does not crash: the request or the reply is lost instead. */
function withoutDeath(plan: FaultPlan): CallFaults {
  return {
    ofCall: (...call) => {
      const fault = plan.ofCall(...call)
      if (fault === 'crash before') return 'lose request'
      return fault === 'crash after' ? 'lose reply' : fault
    },
  }
}
