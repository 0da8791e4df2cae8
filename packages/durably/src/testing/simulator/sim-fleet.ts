// SimFleet — the workers of a simulated world as a fleet (fleet-plan.ts), and all that watches them.
import { archivedStore } from '../../archive/tidying.ts'
import { cluster } from '../../cluster.ts'
import type { DurablyOptions } from '../../config.ts'
import type { Durably } from '../../durably.ts'
import type { Env } from '../../model/env.ts'
import type { RunRow } from '../../model/run.ts'
import { withLogPersistence } from '../../plugins/index.ts'
import type { ActorOption } from '../../store/cluster/audited.ts'
import type { NewRun } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { JobExecution, Violation } from '../invariants/index.ts'
import { MemoryFiles } from '../memory-files.ts'
import { AssignmentAudit } from './assignment-audit.ts'
import { AuditWatch } from './audit-watch.ts'
import { pick } from './chance.ts'
import { ConfirmAudit } from './confirm-audit.ts'
import type { FleetPlan, Order } from './fleet-plan.ts'
import { HistoryAudit } from './history-audit.ts'
import { OwnerWatch } from './owner-watch.ts'
import { RegisterWatch } from './register-watch.ts'
import type { SimProcess } from './sim-process.ts'
import { withVerbs } from './with-verbs.ts'

export interface FleetFigures {
  /** Runs whose worker was silent, and workers that came back in time. */
  silences: number
  returns: number
  /** Runs that a leader gave a worker, and those that it took away again. */
  assigned: number
  orphaned: number
  /** Requests of leaders that led no more, which were refused. */
  deposed: number
  /** Histories that were moved to files. */
  archived: number
  /** Commands whose actor was recorded. */
  recorded: number
}

export const NO_FLEET: FleetFigures = { silences: 0, returns: 0, assigned: 0, orphaned: 0, deposed: 0, archived: 0, recorded: 0 }

/** In fleets, everybody who gives a command says who it is. */
export const OPERATOR: ActorOption = { actor: 'operator' }

interface SimFleetDeps {
  seed: number
  plan: FleetPlan
  env: Env
  storeMs: () => number
  isAbandoned: (run: RunRow) => boolean
}

export class SimFleet {
  readonly plan: FleetPlan
  readonly #deps: SimFleetDeps
  readonly #files = new MemoryFiles()
  readonly #assignments: AssignmentAudit
  readonly #confirms: ConfirmAudit
  readonly #histories: HistoryAudit
  readonly #owners = new Map<SimProcess, OwnerWatch>()
  readonly #registers: RegisterWatch[] = []
  readonly #commands = new AuditWatch()

  constructor(deps: SimFleetDeps) {
    const { seed, plan, storeMs, isAbandoned } = deps
    this.plan = plan
    this.#deps = deps
    this.#assignments = new AssignmentAudit(seed, storeMs)
    this.#confirms = new ConfirmAudit(isAbandoned)
    this.#histories = new HistoryAudit({ files: this.#files, readable: (store) => this.readable(store), storeMs })
  }

  /** The store of all processes, watched. */
  over(store: Store): Store {
    const { isArchiving, isCluster } = this.plan
    const kept = isArchiving ? this.#histories.over(store) : store
    return this.#commands.over(isCluster ? this.#assignments.over(this.#preferring(kept)) : kept)
  }

  /** Some runs prefer a worker, whoever triggers them. */
  #preferring(store: Store): Store {
    const prefer = (run: NewRun): NewRun => {
      const preferWorkerId = this.plan.preferred(run.id)
      return preferWorkerId === undefined ? run : { ...run, preferWorkerId }
    }
    return { ...store, runs: withVerbs(store.runs, { create: (runs, options) => store.runs.create(runs.map(prefer), options) }) }
  }

  /** The same store, with what was moved to files. */
  readable(store: Store): Store {
    return this.plan.isArchiving ? archivedStore(store, this.#deps.env, this.#files) : store
  }

  storeOf(process: SimProcess, store: Store): Store {
    const options = this.plan.clusterOptionsOf(process.name)
    const owner = new OwnerWatch(process, this.plan.confirmMsOf(process.name))
    this.#owners.set(process, owner)
    const watched = owner.over(store)
    if (!options) return watched
    const register = new RegisterWatch(process, options.dispatch === 'leader')
    this.#registers.push(register)
    return register.over(watched)
  }

  optionsOf(process: SimProcess): Pick<DurablyOptions, 'workerId' | 'confirmFor' | 'archive'> {
    const { plan } = this
    const archive = { files: process.reach('files', this.#histories.filesOf(process)), after: plan.archiveAfterMs() }
    return {
      workerId: plan.workerIdOf(process.name),
      confirmFor: plan.confirmMsOf(process.name),
      ...(plan.isArchiving && { archive }),
    }
  }

  /** Before the worker starts. */
  join(process: SimProcess, durably: Durably): void {
    const options = this.plan.clusterOptionsOf(process.name)
    if (options) cluster(durably, options)
    if (this.plan.isArchiving) durably.use(withLogPersistence())
  }

  /** What an operator does, as a process that executes nothing. */
  async obey(durably: Durably, { order, name }: Order): Promise<void> {
    const fleet = cluster(durably)
    const workers = await fleet.workers()
    const worker = workers[pick(this.#deps.seed, `${name} target`, 0, Math.max(0, workers.length - 1))]
    if (worker) await fleet[order](worker.id, OPERATOR)
  }

  /** Leaves the workers as they are to be in the end: an order of before may still be under way. */
  async settle({ cluster }: Store): Promise<void> {
    if (!cluster || !this.plan.isCluster) return
    for (const { id, state } of await cluster.workers()) {
      const wanted = this.plan.stateInTheEnd(id)
      if (state !== wanted) await cluster.switchWorker(id, wanted)
    }
  }

  /** The signal of an execution was aborted. */
  aborted(process: SimProcess, execution: JobExecution, reason: unknown): void {
    this.#owners.get(process)?.aborted(execution, reason)
  }

  /** `nowMs` is the store's own clock. */
  look(runs: readonly RunRow[], executions: readonly (JobExecution & { process: string })[], nowMs: number): void {
    this.#confirms.look(runs, nowMs)
    this.#assignments.look(runs)
    const open = executions.filter(({ endedAt }) => endedAt === null)
    for (const owner of this.#owners.values()) owner.look(open)
  }

  /** Whether files of one of these runs are left. */
  hasFilesOf(runIds: { has(runId: string): boolean }): boolean {
    return this.#histories.hasFilesOf(runIds)
  }

  /** `runs`: all that are left in the end. */
  judge(runs: readonly RunRow[]): Violation[] {
    if (this.plan.isArchiving) this.#histories.judge(runs)
    const watches = [this.#assignments, this.#confirms, this.#histories, ...this.#owners.values(), ...this.#registers, this.#commands]
    return watches.flatMap(({ violations }) => violations)
  }

  get figures(): FleetFigures {
    return { ...this.#confirms.counts, ...this.#assignments.counts, archived: this.#histories.moved, recorded: this.#commands.recorded }
  }
}
