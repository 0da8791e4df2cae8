// AssignmentAudit — stands before the store of a world whose leader chooses the worker of each run, or whose runs prefer workers, and checks what each
// write did.
//   I63. A run gets a worker from the process that leads, while it is pending, has the version that this process has read and no worker; and
//        the worker is attached and not silent.
//   I64. The epoch and the count of assignments of a run never decrease, and each assignment counts.
//   I65. A run loses its worker only long enough after it was assigned, and only if the worker is detached, silent or gone.
//   I66. A worker whose runs are chosen starts only those that are assigned to it.
//   I68. The end of a run is accepted only with the epoch that its row has.
import { isTerminal, type RunRow } from '../../model/run.ts'
import { TRANSITIONS } from '../../model/transitions.ts'
import type { AssignedRun, AssignRequest, OpenClaimRequest, OrphanRequest } from '../../store/cluster/assignments.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import { endsLease, type OwnerWrite } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import { chance } from './chance.ts'
import { ExclusiveTurn } from './exclusive-turn.ts'
import { LeaderWatch } from './leader-watch.ts'
import { type BeforeClaim, checkOpenClaim } from './open-claims.ts'
import { isWithin } from './store-line.ts'
import { withVerbs } from './with-verbs.ts'

/** How often the end of a run, or a request of the leader, is sent first as it must be refused. */
const FORGED_SHARE = 0.3

export class AssignmentAudit {
  readonly violations: Violation[] = []
  /** Runs that got a worker, that lost it again, and requests of processes that led no more. */
  readonly counts = { assigned: 0, orphaned: 0, deposed: 0 }
  readonly leader = new LeaderWatch(this.violations)
  readonly #seed: number
  readonly #storeMs: () => number
  readonly #runs = new Map<string, RunRow>()
  readonly #turn = new ExclusiveTurn()
  #requests = 0

  constructor(seed: number, storeMs: () => number) {
    this.#seed = seed
    this.#storeMs = storeMs
  }

  over(store: Store): Store {
    const { runs, cluster, transact } = store
    if (!cluster) return store
    const turn = this.#turn
    const beside = <T extends object>(chapter: T): T => new Proxy(chapter, { get: (target, verb) => this.#beside(target, verb) })
    return {
      ...store,
      runs: withVerbs(beside(runs), {
        apply: (writes) =>
          writes.some((write) => this.#isForged(write))
            ? turn.alone(() => this.#forgeAndApply(runs, writes))
            : turn.beside(() => runs.apply(writes)),
      }),
      signals: beside(store.signals),
      ...(transact && { transact: (body) => turn.beside(() => transact(body)) }),
      cluster: withVerbs(beside(cluster), {
        lead: (request) =>
          turn.alone(async () => {
            const led = await cluster.lead(request)
            this.leader.led(request, led)
            return led
          }),
        assign: (request) => turn.alone(() => this.#assign(store, cluster, request)),
        orphan: (request) => turn.alone(() => this.#orphan(store, cluster, request)),
        claimAssigned: (request) => turn.alone(() => this.#claim(store, cluster, request)),
        claimOpen: (request) => turn.alone(() => this.#claimOpen(store, cluster, request)),
      }),
    }
  }

  look(runs: readonly RunRow[]): void {
    for (const run of runs) {
      const before = this.#runs.get(run.id)
      if (before === run) continue
      this.#runs.set(run.id, run)
      if (!before) continue
      if ((run.leaderEpoch ?? 0) < (before.leaderEpoch ?? 0))
        this.#broken('I64', run.id, `its epoch went from ${before.leaderEpoch} to ${run.leaderEpoch}`)
      const isNew = run.assignedWorkerId !== null && run.assignedWorkerId !== before.assignedWorkerId
      if (run.assignCount < before.assignCount + (isNew ? 1 : 0))
        this.#broken('I64', run.id, `its assignments went from ${before.assignCount} to ${run.assignCount}`)
    }
  }

  #beside(target: object, verb: string | symbol): unknown {
    const invoke = Reflect.get(target, verb) as (...args: unknown[]) => Promise<unknown>
    // A call inside of a transaction must not wait for anything else: the transaction would not end.
    return (...args: unknown[]) => (isWithin(args[1]) ? invoke.apply(target, args) : this.#turn.beside(() => invoke.apply(target, args)))
  }

  async #before({ runs }: Store, cluster: ClusterStore): Promise<BeforeClaim> {
    const pending = await runs.list({ statuses: ['pending'] })
    const workers = await cluster.workers()
    const byId = <T extends { id: string }>(rows: readonly T[]) => new Map(rows.map((row) => [row.id, row]))
    return { nowMs: this.#storeMs(), runs: byId(pending), workers: byId(workers) }
  }

  async #assign(store: Store, cluster: ClusterStore, request: AssignRequest): Promise<AssignedRun[] | null> {
    const before = await this.#before(store, cluster)
    if (this.#isForgedToo()) await this.#assignAsReadBefore(cluster, request)
    const assigned = await cluster.assign(request)
    if (!this.#isOfLeader(request.epoch, assigned)) return assigned
    const versions = new Map(request.assignments.map(({ runId, version }) => [runId, version]))
    for (const { id, workerId } of assigned ?? []) {
      this.counts.assigned++
      const run = before.runs.get(id)
      const worker = before.workers.get(workerId)
      const broken = (what: string) => this.#broken('I63', id, `was assigned to ${workerId}, but ${what}`)
      if (!run || run.assignedWorkerId !== null) broken('was not pending without a worker')
      else if (run.version !== versions.get(id)) broken(`had another version than the one that the leader has read`)
      if (worker?.state !== 'attached') broken(`that is ${worker?.state ?? 'not there'}`)
      else if (worker.expiresInMs <= 0) broken('that is silent')
    }
    return assigned
  }

  async #orphan(store: Store, cluster: ClusterStore, request: OrphanRequest): Promise<AssignedRun[] | null> {
    const before = await this.#before(store, cluster)
    if (this.#isForgedToo()) await this.#orphanAsDeposed(cluster, request)
    const orphaned = await cluster.orphan(request)
    if (!this.#isOfLeader(request.epoch, orphaned)) return orphaned
    const nowMs = Math.max(before.nowMs, this.#storeMs())
    for (const { id, workerId } of orphaned ?? []) {
      this.counts.orphaned++
      const run = before.runs.get(id)
      const worker = before.workers.get(workerId)
      const broken = (what: string) => this.#broken('I65', id, `was taken from ${workerId}, but ${what}`)
      if (worker && worker.state !== 'detached' && worker.expiresInMs > nowMs - before.nowMs) broken(`that is ${worker.state}`)
      if (run?.assignedWorkerId !== workerId) broken('was not assigned to it')
      else if ((run.assignedAt ?? 0) + request.reassignAfterMs > nowMs) broken('not long enough after it was assigned')
    }
    return orphaned
  }

  #isForgedToo(): boolean {
    return chance(this.#seed, `forges request ${this.#requests++}`) < FORGED_SHARE
  }

  /** Sends it as if the leader had read the runs before their last change, which assigns none of them. */
  async #assignAsReadBefore(cluster: ClusterStore, { epoch, assignments }: AssignRequest): Promise<void> {
    const outdated = assignments.map(({ runId, version, workerId }) => ({ runId, version: version - 1, workerId }))
    for (const { id } of (await cluster.assign({ epoch, assignments: outdated })) ?? [])
      this.#broken('I63', id, 'was assigned, but had another version than the one that the leader has read')
  }

  /** Sends it as the leader before, whose request comes late. */
  async #orphanAsDeposed(cluster: ClusterStore, { epoch, reassignAfterMs }: OrphanRequest): Promise<void> {
    if ((await cluster.orphan({ epoch: epoch - 1, reassignAfterMs })) !== null)
      this.#broken('I65', null, `runs may be taken away as epoch ${epoch - 1}, but epoch ${epoch} leads`)
  }

  #isOfLeader(epoch: number, answer: readonly AssignedRun[] | null): boolean {
    if (answer === null) this.counts.deposed++
    else if (epoch !== this.leader.epoch)
      this.#broken('I63', null, `runs were assigned or taken away as epoch ${epoch}, but epoch ${this.leader.epoch} leads`)
    return answer !== null
  }

  async #claim(store: Store, cluster: ClusterStore, request: Parameters<ClusterStore['claimAssigned']>[0]): Promise<RunRow[]> {
    const before = await this.#before(store, cluster)
    const claimed = await cluster.claimAssigned(request)
    for (const { id } of claimed) {
      const run = before.runs.get(id)
      // A claim that is sent again is answered with what it claimed the first time.
      if (run && run.assignedWorkerId !== request.workerId)
        this.#broken('I66', id, `was started by ${request.workerId}, and was assigned to ${run.assignedWorkerId ?? 'nobody'}`)
    }
    return claimed
  }

  async #claimOpen(store: Store, cluster: ClusterStore, request: OpenClaimRequest): Promise<RunRow[]> {
    const before = await this.#before(store, cluster)
    const claimed = await cluster.claimOpen(request)
    this.violations.push(...checkOpenClaim(before, this.#storeMs(), request, claimed))
    return claimed
  }

  #isForged({ claim: { runId, generation }, number, verb }: OwnerWrite): boolean {
    const endsRun = endsLease(verb) && isTerminal(TRANSITIONS[verb.type].to)
    return endsRun && chance(this.#seed, `forges ${runId} ${generation} ${number}`) < FORGED_SHARE
  }

  /** Sends the end of a run as if another leader had chosen its worker meanwhile. That changes nothing, because it is refused. */
  async #forgeAndApply(runs: RunStore, writes: readonly OwnerWrite[]): ReturnType<RunStore['apply']> {
    for (const write of writes.filter((one) => this.#isForged(one))) {
      const { runId, token, leaderEpoch } = write.claim
      const run = await runs.get(runId)
      // One that is sent again was accepted before.
      if (run?.leaseOwner !== token || run.leaseWrites >= write.number) continue
      const epoch = (leaderEpoch ?? 0) + 1
      const [outcome] = await runs.apply([{ ...write, claim: { ...write.claim, leaderEpoch: epoch } }])
      if (outcome?.ok) this.#broken('I68', runId, `ended with epoch ${epoch}, and has ${run.leaderEpoch}`)
    }
    return runs.apply(writes)
  }

  #broken(invariant: string, runId: string | null, what: string): void {
    this.violations.push({ invariant, runId, what })
  }
}
