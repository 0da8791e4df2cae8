// TabAudit — checks what must hold where the workers of a world are tabs of one browser.
//   I34. Only the leader claims runs, and a worker that has stopped does not lead.
//   I35. A leader that acquired the lead without stealing it reaps at once the runs that the former leader left running. One that stole
//        the lead, or has lost it since, does not; and nobody reaps a lease that is not over of another tab that may still execute.
//   I36. A leader that is awake keeps the lead; one that is frozen for long loses it if another tab waits for it.
import type { RunRow } from '../../model/run.ts'
import { LeaderLock } from '../../store/leader-lock.ts'
import type { ClaimRequest, ReapRequest, RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { SimProcess, SimWorld } from './sim-process.ts'
import { type Grant, SimTabs, type TabWatch } from './sim-tabs.ts'

/** An undisturbed call takes less than a tenth of it. */
const AT_ONCE_MS = 2000
/** A waiting tab steals the lead after two leases without a heartbeat, and checks four times per lease. */
const REPLACED_AFTER_LEASES = 3

export class TabAudit implements TabWatch {
  readonly tabs = new SimTabs(this)
  readonly violations: Violation[] = []
  /** How often a tab began to lead, and how often it had stolen the lead. */
  readonly counts = { terms: 0, thefts: 0 }
  readonly #world: SimWorld
  readonly #plan: FaultPlan
  /** The processes that were notified that they lead, and not yet that they lost the lead. */
  readonly #leading = new Map<SimProcess, Grant>()
  /** The term in which a claim was made, by its token. */
  readonly #terms = new Map<string | null, Grant>()
  readonly #stopping = new Set<SimProcess>()

  constructor(world: SimWorld, plan: FaultPlan) {
    this.#world = world
    this.#plan = plan
  }

  /** The store of a tab, with the leadership of the browser. */
  storeOf(process: SimProcess): Store {
    const runs = new Proxy(process.store.runs, {
      get: (runs, verb) => {
        if (verb === 'claim') return (request: ClaimRequest) => this.#claims(process, runs, request)
        if (verb === 'reap') return (request: ReapRequest) => this.#reaps(process, runs, request)
        return Reflect.get(runs, verb)
      },
    })
    const page = this.tabs.pageOf(process)
    return { ...process.store, runs, openLeadership: ({ env, leaseMs }) => new LeaderLock({ env, leaseMs, name: 'lead', page }) }
  }

  /** The owner of the run no longer leads, so others may end its lease early. */
  isAbandoned({ leaseOwner }: RunRow): boolean {
    return this.#terms.get(leaseOwner)?.isOver === true
  }

  granted(grant: Grant): void {
    this.#leading.set(grant.process, grant)
    this.counts.terms++
    if (grant.isStolen) this.counts.thefts++
    if (!grant.isStolen && !this.tabs.mayOthersExecute(grant.process)) void this.#expectTakeover(grant)
  }

  lost({ process }: Grant): void {
    this.#leading.delete(process)
  }

  stolen({ process, notifiedAt }: Grant): void {
    const { base, leaseMs } = this.#world
    const now = base.mono()
    const isAwake = process.wokeAt < now - leaseMs / 2
    // Two waiting tabs may notice a silent leader at the same time.
    const isNew = notifiedAt === null || notifiedAt > now - leaseMs / 2
    if (isAwake && !isNew) this.#broken('I36', null, `${process.name} was awake, and the lead was stolen from it`)
  }

  stops(process: SimProcess): void {
    this.#stopping.add(process)
  }

  /** A stopped worker may keep the lead for one more lease, while a function ignores its signal. */
  async stopped(process: SimProcess): Promise<void> {
    const { base, leaseMs } = this.#world
    const stoppedAt = base.mono()
    await this.#later(leaseMs + AT_ONCE_MS)
    const isLeading = process.alive && process.wokeAt <= stoppedAt && this.tabs.holder === process
    if (isLeading) this.#broken('I34', null, `${process.name} has stopped, and keeps the lead`)
  }

  async stoodStill(process: SimProcess): Promise<void> {
    const { base, leaseMs } = this.#world
    const since = base.mono()
    const waiting = this.tabs.waiting
    const replacedIn = leaseMs * REPLACED_AFTER_LEASES
    if (this.tabs.holder !== process || process.wokeAt < since + replacedIn) return
    await this.#later(replacedIn)
    const isStill = process.alive && this.tabs.holder === process
    const couldSee = waiting.some((other) => other.alive && other.wokeAt <= since && this.tabs.waiting.includes(other))
    if (isStill && couldSee) this.#broken('I36', null, `${process.name} is frozen, and nobody steals the lead from it`)
  }

  #claims(process: SimProcess, runs: RunStore, request: ClaimRequest): Promise<RunRow[]> {
    const term = this.#leading.get(process)
    for (const token of request.tokens) if (term) this.#terms.set(token, term)
    if (!term && process.alive) this.#broken('I34', null, `${process.name} claims, and does not lead`)
    return runs.claim(request)
  }

  #reaps(process: SimProcess, runs: RunStore, request: ReapRequest): ReturnType<RunStore['reap']> {
    const term = this.#leading.get(process)
    const hasInherited = term && !term.isStolen && !term.isOver
    if (request.tokens && !hasInherited && process.alive && !process.claims.hasMisleadingClocks())
      this.#broken('I35', null, `${process.name} reaps leases that are not over, and did not acquire the lead without stealing it`)
    const owners = request.tokens?.map((token) => this.#terms.get(token)?.process) ?? []
    const executing = owners.find((owner) => owner && owner !== process && this.tabs.mayExecute(owner))
    if (executing && process.alive) this.#broken('I35', null, `${process.name} reaps a lease of ${executing.name}, which may still execute`)
    return runs.reap(request)
  }

  async #expectTakeover(grant: Grant): Promise<void> {
    const { process } = grant
    const notifiedAt = grant.notifiedAt ?? 0
    const { length } = this.#plan.happened
    const { base, leaseMs } = this.#world
    const askedAt = base.mono()
    const left = await this.#world.store.runs.list({ statuses: ['running'] })
    // A transaction blocks the store: when the new leader gets the answer it may not lead any more.
    if (base.mono() - askedAt > AT_ONCE_MS) return
    await this.#later(AT_ONCE_MS)
    const isDisturbed = this.#plan.happened.slice(length).some((fault) => fault.startsWith(`${process.name}#`))
    // The new leader was frozen when it acquired the lead, or just before: it cannot know whether the lead was stolen meanwhile.
    const stoodStill = process.wokeAt > 0 && process.wokeAt >= notifiedAt - leaseMs / 2
    // A process whose clock was set cannot know for how long it has led.
    if (isDisturbed || grant.isOver || stoodStill || process.clock.isSet || this.#stopping.has(process)) return
    const running = await this.#world.store.runs.list({ statuses: ['running'] })
    for (const { id, leaseGeneration } of left) {
      if (running.some((run) => run.id === id && run.leaseGeneration === leaseGeneration))
        this.#broken('I35', id, `waits for the end of its lease, although its owner is gone and ${process.name} leads`)
    }
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.base.timer(ms, resolve))
  }

  #broken(invariant: string, runId: string | null, what: string): void {
    this.violations.push({ invariant, runId, what })
  }
}
