// Simulate — one seed is one world: several workers on one store, faults for a while, then healing, then judgement.
// The engine is the real one; only time, the line to the store and death are simulated.
import { createDurably, type Durably } from '../../durably.ts'
import { memoryStore } from '../../memory.ts'
import { type Env, forgetScopes } from '../../model/env.ts'
import type { EventRow } from '../../model/event.ts'
import { isTerminal, type RunRow, type RunStatus } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { ClaimRequest } from '../../store/runs.ts'
import type { SqlStore } from '../../store/sql/sql-store.ts'
import type { Store } from '../../store/store.ts'
import { executorClass } from '../../worker/lazy-executor.ts'
import { DueAudit, type History, RowAudit, readRows, StreamAudit, type Violation } from '../invariants/index.ts'
import { type VirtualEnv, virtualEnv } from '../virtual-env.ts'
import { Archive } from './archive.ts'
import { readBookings } from './bookings.ts'
import { chance, oneOf, pick } from './chance.ts'
import { ClaimWatch } from './claim-watch.ts'
import type { CutLine } from './cut-line.ts'
import { type CallFaults, FaultPlan, type Timed } from './fault-plan.ts'
import { figuresOf, judge, plansOf, type SimFigures } from './judge.ts'
import { VALUE_BYTES_MAX } from './misfit.ts'
import { Outsiders } from './outsiders.ts'
import { planRuns, planSteadyJobs, type SteadyJobs } from './plan-runs.ts'
import { rareFiguresOf } from './rare-figures.ts'
import { rejecting } from './rejecting-store.ts'
import { SimClient } from './sim-client.ts'
import { SimLedger } from './sim-ledger.ts'
import { type Answer, SimProcess, type SimWorld } from './sim-process.ts'
import { StoreNotes } from './store-notes.ts'
import { TabAudit } from './tab-audit.ts'
import { defineWorkload, type SimJobs } from './workload.ts'
import { isFaultFree, isRushHour, isWorldOfCrowds } from './world-kinds.ts'

export interface SimulateOptions {
  seed: number
  /** Names of faults that are left out. */
  without?: ReadonlySet<string>
  /** Note every store call with its answer, in order: two equal traces are two equal worlds. */
  keepTrace?: boolean
  /** A store on the world's own clock; the memory store unless given. */
  openStore?: (env: Env) => Promise<OpenedStore>
}

export interface OpenedStore {
  store: Store
  /** All runs, where there is a faster way than to ask the store for them. */
  listRuns?: () => Promise<RunRow[]>
  /** Where users can write in transactions of the same database, and those be cut short. */
  sql?: { db: SqlStore['db']; line: CutLine }
}

export interface Simulated {
  seed: number
  violations: Violation[]
  /** The faults that happened, in order. */
  faults: string[]
  /** Empty unless it was asked for. */
  trace: string[]
  figures: SimFigures
}

const FAULT_MS = 80_000
/** More than a machine sleeps at most. */
const HEAL_MS_MAX = 5_400_000
const HEAL_LOOK_MS = 10_000
const ANSWER_MS = 100
const LEASE_MS_OF_CROWDS = 3000
/** In half of their worlds a worker can execute all of a crowd at once. */
const ROOM_FOR_CROWDS = 150
/** How often a command is for a run that it was made for. */
const LIKELY_SHARE = 0.7
const COMMANDS = {
  cancel: { verb: 'cancel', isFor: (status: RunStatus) => status === 'running' },
  retry: { verb: 'retry', isFor: (status: RunStatus) => status === 'failed' },
  delete: { verb: 'deleteRun', isFor: (status: RunStatus) => isTerminal(status) },
} as const
const MUTATING = new Set([
  ...['runs.create', 'runs.claim', 'runs.apply', 'runs.reap', 'runs.cancel', 'runs.retry', 'runs.delete', 'runs.purge'],
  ...['signals.send', 'transact'],
])
/** How many worlds let the workers clear away what has ended. */
const RETENTION_SHARE = 0.15
/** And in how many they are tabs of one browser. */
const TABS_SHARE = 0.2
/** A page that is put aside stands still soon after. */
const ASIDE_MS_MAX = 1500
/** Clocks that differ by a second at most are believed (store-time.ts). */
const SUSPEND_MS_MIN = 1100
const SUSPEND_MS_MAX = 120_000
/** Few sleep for that long: it costs the others many looks. */
const LONG_SUSPEND_SHARE = 0.05
const LONG_SUSPEND_MS_MAX = 3_600_000
const NO_TABS = { terms: 0, thefts: 0 }

export async function simulate(options: SimulateOptions): Promise<Simulated> {
  return new Simulation(options).run()
}

class Simulation {
  readonly #seed: number
  readonly #options: SimulateOptions
  readonly #base: VirtualEnv
  readonly #plan: FaultPlan
  readonly #leaseMs: number
  readonly #faultFree: boolean
  readonly #isRush: boolean
  readonly #hasRoom: boolean
  readonly #maxRecoveries: number
  readonly #trace: string[] = []
  readonly #ledger = new SimLedger()
  readonly #audit = new RowAudit((run) => this.#tabs?.isAbandoned(run) === true)
  readonly #dues = new DueAudit()
  readonly #streams = new StreamAudit(this.#ledger.streams)
  readonly #notes = new StoreNotes(this.#ledger)
  readonly #archive = new Archive(() => this.#storeMs())
  readonly #steadyJobs: SteadyJobs
  readonly #workers = new Map<string, { process: SimProcess; durably: Durably }>()
  #dbOffsetMs = 0
  #store!: Store
  #listRuns!: () => Promise<RunRow[]>
  #sql: OpenedStore['sql']
  #claims!: ClaimWatch
  #tabs: TabAudit | undefined
  #client!: SimClient
  /** The last look at the rows. */
  #looked: Promise<void> = Promise.resolve()
  #outsiders!: Outsiders
  #kills = 0
  readonly #stuck: Violation[] = []
  readonly #counts = { commits: 0, groups: 0, claims: 0, batches: 0, families: 0, suspends: 0 }

  constructor(options: SimulateOptions) {
    const { seed } = options
    this.#options = options
    this.#seed = seed
    this.#base = virtualEnv({ seed, isClosed: true })
    this.#isRush = isRushHour(seed)
    this.#hasRoom = isWorldOfCrowds(seed) && chance(seed, 'room') < 0.5
    this.#faultFree = isFaultFree(seed)
    this.#plan = new FaultPlan({ seed, faultMs: FAULT_MS, without: options.without ?? new Set(), faultFree: this.#faultFree })
    this.#maxRecoveries = oneOf(seed, 'cap', [1, 2, 6])
    this.#leaseMs = isWorldOfCrowds(seed) ? LEASE_MS_OF_CROWDS : oneOf(seed, 'lease', [3000, 10_000, 30_000])
    this.#steadyJobs = planSteadyJobs(seed, this.#leaseMs)
  }

  async run(): Promise<Simulated> {
    // Before the world begins: the first one shall not differ from the others.
    await executorClass(this.#base)
    const {
      store,
      sql,
      listRuns = () => store.runs.list({}),
    } = await (this.#options.openStore ?? inMemory)({ ...this.#base, wall: () => this.#storeMs() })
    this.#store = this.#archive.over(rejecting(store))
    this.#sql = sql
    this.#listRuns = listRuns
    this.#claims = new ClaimWatch(this.#store)
    if (chance(this.#seed, 'tabs') < TABS_SHARE) this.#tabs = new TabAudit(this.#world(), this.#plan)
    await this.#store.migrate()
    this.#startOutsiders()
    this.#startClient()
    const workers = this.#isRush ? 2 : pick(this.#seed, 'workers', 2, 4)
    for (let i = 0; i < workers; i++) this.#startWorker(`w${i}`, 0)
    for (const timed of this.#plan.timed()) this.#base.timer(timed.atMs, () => this.#strike(timed))
    try {
      await this.#base.advance(FAULT_MS)
      await this.#heal()
    } catch (error) {
      this.#stuck.push({ invariant: 'I5', runId: null, what: `the world stands still: ${error}` })
    }
    return this.#judge()
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
      plan: this.#plan,
      line: this.#sql?.line,
      leaseMs: this.#leaseMs,
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
    const durably = createDurably({
      store: this.#tabs?.storeOf(process) ?? process.store,
      env: process.env,
      staleThreshold: this.#leaseMs,
      pollingInterval: oneOf(this.#seed, `polling of ${process.name}`, [1000, 2000, 5000]),
      concurrency: this.#hasRoom ? ROOM_FOR_CROWDS : pick(this.#seed, `concurrency of ${process.name}`, this.#isRush ? 4 : 1, 6),
      maxRecoveries: this.#maxRecoveries,
      maxValueBytes: VALUE_BYTES_MAX,
      ...(chance(this.#seed, 'retention') < RETENTION_SHARE && { retention: pick(this.#seed, 'kept', 5000, 40_000) }),
    })
    this.#ledger.hear(durably, process)
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
    durably.start()
  }

  #define(durably: Durably, process: SimProcess): SimJobs {
    return defineWorkload({ seed: this.#seed, durably, process, ledger: this.#ledger, steadyJobs: this.#steadyJobs })
  }

  #startOutsiders(): void {
    const process = new SimProcess('outside', { ...this.#world(), plan: withoutDeath(this.#plan), onDeath: () => {} })
    this.#outsiders = new Outsiders({ seed: this.#seed, process, durably: this.#open(process), store: this.#store })
  }

  #startClient(): void {
    const open = (process: SimProcess) => {
      const durably = this.#open(process)
      return { durably, jobs: this.#define(durably, process) }
    }
    const scope = { leaseMs: this.#leaseMs, withinMs: FAULT_MS / 2, hasTransactions: this.#sql !== undefined }
    this.#client = new SimClient({ world: this.#world(), ledger: this.#ledger, open }, planRuns(this.#seed, scope))
  }

  async #strike({ fault, name }: Timed): Promise<void> {
    if (this.#plan.healed) return
    this.#plan.happened.push(name)
    const worker = [...this.#workers.values()][pick(this.#seed, `${name} target`, 0, this.#workers.size - 1)]
    if (!worker) return
    switch (fault) {
      case 'kill':
        return worker.process.kill()
      case 'pause':
        return this.#pause(worker.process, name)
      case 'suspend':
      case 'suspend all':
        return this.#suspend(worker.process, fault, name)
      case 'clock jump':
        this.#dbOffsetMs += pick(this.#seed, `${name} ms`, -120_000, 120_000)
        return
      case 'stop':
        return this.#stopWorker(worker)
      case 'cancel':
      case 'retry':
      case 'delete':
        return this.#command(fault, name)
      case 'clear and retry':
      case 'cancel and clear':
        return this.#family(fault, name)
      case 'purge': {
        const olderThan = chance(this.#seed, `${name} at once`) < 0.5 ? 0 : pick(this.#seed, `${name} age`, 1, 30_000)
        return this.#client.command((durably) => durably.purge({ olderThan }))
      }
    }
  }

  #pause(process: SimProcess, name: string): void {
    const ms = pick(this.#seed, `${name} ms`, 1000, 120_000)
    if (this.#tabs && chance(this.#seed, `${name} aside`) < 0.5)
      return this.#tabs.tabs.putAside(process, pick(this.#seed, `${name} after`, 0, ASIDE_MS_MAX), ms)
    process.pause(ms)
    void this.#tabs?.stoodStill(process)
  }

  /** Half of them wake before their leases are over, and go on. The tabs of a browser sleep all at once. */
  #suspend(process: SimProcess, fault: 'suspend' | 'suspend all', name: string): void {
    const isShort = chance(this.#seed, `${name} short`) < 0.5
    // Where there is one connection only, whoever sleeps in a transaction holds up the whole world.
    const isLong = !this.#sql && chance(this.#seed, `${name} long`) < LONG_SUSPEND_SHARE
    const longest = isShort ? this.#leaseMs : isLong ? LONG_SUSPEND_MS_MAX : SUSPEND_MS_MAX
    const ms = pick(this.#seed, `${name} ms`, isShort ? SUSPEND_MS_MIN : this.#leaseMs, longest)
    const all = [...this.#workers.values()].map((worker) => worker.process)
    for (const sleeper of fault === 'suspend all' || this.#tabs ? all : [process]) sleeper.suspend(ms)
    this.#counts.suspends++
  }

  async #stopWorker({ process, durably }: { process: SimProcess; durably: Durably }): Promise<void> {
    this.#tabs?.stops(process)
    await durably.stop(chance(this.#seed, `timeout of ${process.name}`) < 0.5 ? { timeout: 2000 } : {})
    await this.#tabs?.stopped(process)
    process.kill()
  }

  async #command(fault: keyof typeof COMMANDS, name: string): Promise<void> {
    const all = await this.#store.runs.list({})
    const { verb, isFor } = COMMANDS[fault]
    const likely = all.filter(({ status }) => isFor(status))
    const rows = likely.length > 0 && chance(this.#seed, `${name} likely`) < LIKELY_SHARE ? likely : all
    const run = rows[pick(this.#seed, `${name} run`, 0, Math.max(0, rows.length - 1))]
    if (run) this.#client.command((durably) => durably[verb](run.id))
  }

  /** All that has ended goes before a failed run with children is sent back, or right after such a run was cancelled. */
  async #family(fault: 'clear and retry' | 'cancel and clear', name: string): Promise<void> {
    const all = await this.#store.runs.list({})
    const parents = new Set(all.map(({ parentRunId }) => parentRunId))
    const families = all.filter(
      ({ id, status }) => parents.has(id) && (fault === 'clear and retry' ? status === 'failed' : !isTerminal(status)),
    )
    const run = families[pick(this.#seed, `${name} run`, 0, Math.max(0, families.length - 1))]
    if (!run) return
    this.#counts.families++
    this.#client.command(async (durably) => {
      if (fault === 'cancel and clear') await durably.cancel(run.id)
      await durably.purge({ olderThan: 0 })
      if (fault === 'clear and retry') await durably.retry(run.id)
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
    this.#notes.take(verb, answer, args, { storeMs: this.#storeMs(), mono: this.#base.mono(), arrivedMs })
    if (MUTATING.has(verb) && hasChanged(answer)) this.#looked = this.#lookAtRows(this.#looked)
    const answered = 'value' in answer && Array.isArray(answer.value) ? answer.value : []
    if (verb === 'runs.apply') this.#count('commits', 'groups', answered)
    if (verb === 'runs.claim') {
      this.#count('claims', 'batches', answered)
      this.#claims.claimed(process, (args[0] as ClaimRequest).tokens)
    }
    if (verb === 'runs.adopt') void this.#claims.adopted(process, args[0] as readonly string[], answered)
  }

  /** To put an answer into words costs more than to give it. */
  #note(what: () => string): void {
    if (this.#options.keepTrace) this.#trace.push(`${this.#base.mono()} ${what()}`)
  }

  #count(all: 'commits' | 'claims', shared: 'groups' | 'batches', { length }: readonly unknown[]): void {
    if (length >= 1) this.#counts[all]++
    if (length >= 2) this.#counts[shared]++
  }

  /** Reads what is new: every look at all of it would cost more than the world itself. */
  async #lookAtRows(before: Promise<void>): Promise<void> {
    const nowMs = this.#storeMs()
    const runs = await this.#listRuns()
    const steps: StepRow[] = []
    const events: EventRow[] = []
    for (const { id, lastEventSequence } of runs) {
      const after = this.#streams.sequenceOf(id)
      if (lastEventSequence === after) continue
      events.push(...(await this.#store.events.list(id, { after })))
      steps.push(...(await this.#store.steps.list(id)))
    }
    // Where a transaction of a user held the store up, looks that were asked for one after the other may have been answered otherwise.
    await before
    this.#audit.look(runs, steps, nowMs)
    this.#dues.look(runs, nowMs)
    this.#streams.look({ runs, steps, events })
    this.#notes.see(runs)
    this.#outsiders.see(runs)
  }

  async #heal(): Promise<void> {
    this.#plan.healed = true
    for (let healed = 0; healed < HEAL_MS_MAX; healed += HEAL_LOOK_MS) {
      await this.#base.advance(HEAL_LOOK_MS)
      const runs = await this.#whenAnswered(this.#listRuns())
      if (runs.every((run) => isTerminal(run.status)) && !this.#client.isBusy) break
      this.#outsiders.giveUp(runs)
    }
    // What is still in the hands of somebody who lost it shall show itself.
    await this.#base.advance(this.#leaseMs * 2 + 5000)
  }

  /** The only connection may be in the hands of a transaction that takes its time. */
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
    await this.#whenAnswered(this.#looked)
    const kept = await this.#whenAnswered(readRows(this.#store))
    const { archive, ledger } = { archive: this.#archive, ledger: this.#ledger }
    const rows = {
      runs: [...kept.runs, ...archive.runs],
      steps: [...kept.steps, ...archive.steps],
      events: [...kept.events, ...archive.events],
    }
    const bookings = this.#sql && (await readBookings(this.#sql.db))
    const history: History = {
      ...rows,
      ledger: { ...ledger, ...(bookings && { bookings }) },
      acknowledged: ledger.acknowledged,
      maxRecoveries: this.#maxRecoveries,
      faultFree: this.#faultFree,
      mayStartLate: this.#plan.happened.some((fault) => fault.endsWith('clock jump')),
      purged: archive.ids,
      plans: plansOf(rows.runs, this.#steadyJobs),
    }
    this.#audit.look(kept.runs, kept.steps, this.#storeMs())
    this.#streams.look(rows)
    this.#streams.compare(history)
    const watches = [this.#audit, this.#dues, this.#streams, this.#claims, archive, ...(this.#tabs ? [this.#tabs] : [])]
    const violations = [...this.#stuck, ...watches.flatMap((watch) => watch.violations), ...judge(history)]
    const cuts = this.#sql?.line.cuts ?? 0
    await this.#store.close()
    forgetScopes()
    return {
      seed: this.#seed,
      violations,
      faults: this.#plan.happened,
      trace: this.#trace,
      figures: {
        ...figuresOf(history),
        ...rareFiguresOf(history),
        ...this.#counts,
        ...(this.#tabs?.counts ?? NO_TABS),
        cuts,
        deleted: archive.deleted,
        refused: ledger.refused,
        kills: this.#kills,
        simulatedMs: this.#base.mono(),
      },
    }
  }
}

async function inMemory(env: Env): Promise<OpenedStore> {
  return { store: memoryStore({ env }) }
}

/** Somebody whose requests and replies get lost as often, but who does not die. */
function withoutDeath(plan: FaultPlan): CallFaults {
  return {
    ofCall: (...call) => {
      const fault = plan.ofCall(...call)
      if (fault === 'crash before') return 'lose request'
      return fault === 'crash after' ? 'lose reply' : fault
    },
  }
}

/** What found nothing to do changed nothing; whether an error came before or after a change cannot be known. */
function hasChanged(answer: Answer): boolean {
  if ('error' in answer) return true
  const { value } = answer
  return Array.isArray(value) ? value.length > 0 : value !== 0 && value !== null
}
