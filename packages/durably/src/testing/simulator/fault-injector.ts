// FaultInjector — injects the timed faults of a world: kills, pauses, sleeping machines, clock jumps, stops and commands of users.
import type { Durably } from '../../durably.ts'
import { isTerminal, type RunStatus } from '../../model/run.ts'
import type { ActorOption } from '../../store/cluster/audited.ts'
import type { Store } from '../../store/store.ts'
import { chance, pick } from './chance.ts'
import type { FaultPlan, Timed } from './fault-plan.ts'
import { SUSPEND_MS_MIN } from './machine-clock.ts'
import type { SimClient } from './sim-client.ts'
import type { SimProcess } from './sim-process.ts'
import type { TabAudit } from './tab-audit.ts'

/** A hidden page is frozen within this time. */
const ASIDE_MS_MAX = 1500
const SUSPEND_MS_MAX = 120_000
/** Few machines sleep for this long, because the other workers poll many times meanwhile, which takes long to simulate. */
const LONG_SUSPEND_SHARE = 0.05
const LONG_SUSPEND_MS_MAX = 3_600_000
/** How often a command is sent to a run in a status that it applies to. */
const LIKELY_SHARE = 0.7
const COMMANDS = {
  cancel: { verb: 'cancel', isFor: (status: RunStatus) => status === 'running' },
  retry: { verb: 'retry', isFor: (status: RunStatus) => status === 'failed' },
  delete: { verb: 'deleteRun', isFor: (status: RunStatus) => isTerminal(status) },
} as const

export interface SimWorker {
  process: SimProcess
  durably: Durably
}

interface FaultInjectorDeps {
  seed: number
  plan: FaultPlan
  leaseMs: number
  store: Store
  workers: ReadonlyMap<string, SimWorker>
  client: SimClient
  /** Undefined where the workers are not tabs of a browser. */
  tabs: TabAudit | undefined
  /** All processes share one connection, so a process that sleeps in a transaction holds up the whole world. */
  hasOneConnection: boolean
  setStoreClockBy: (ms: number) => void
  /** Who gives the commands. Default: nobody. */
  as?: ActorOption
}

export class FaultInjector {
  readonly #deps: FaultInjectorDeps
  readonly counts = { families: 0, suspends: 0 }

  constructor(deps: FaultInjectorDeps) {
    this.#deps = deps
  }

  async inject({ fault, name }: Timed): Promise<void> {
    const { seed, plan, workers, client, setStoreClockBy } = this.#deps
    if (plan.healed) return
    plan.happened.push(name)
    const worker = [...workers.values()][pick(seed, `${name} target`, 0, workers.size - 1)]
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
        return setStoreClockBy(pick(seed, `${name} ms`, -120_000, 120_000))
      case 'stop':
        return this.#stop(worker)
      case 'cancel':
      case 'retry':
      case 'delete':
        return this.#command(fault, name)
      case 'clear and retry':
      case 'cancel and clear':
        return this.#family(fault, name)
      case 'purge': {
        const olderThan = chance(seed, `${name} at once`) < 0.5 ? 0 : pick(seed, `${name} age`, 1, 30_000)
        return client.command((durably) => durably.purge({ olderThan }))
      }
    }
  }

  #pause(process: SimProcess, name: string): void {
    const { seed, tabs } = this.#deps
    const ms = pick(seed, `${name} ms`, 1000, 120_000)
    if (tabs && chance(seed, `${name} aside`) < 0.5) return tabs.tabs.putAside(process, pick(seed, `${name} after`, 0, ASIDE_MS_MAX), ms)
    process.pause(ms)
    void tabs?.stoodStill(process)
  }

  /** Half of the machines wake before their leases are over, and go on. The tabs of a browser sleep all at once. */
  #suspend(process: SimProcess, fault: 'suspend' | 'suspend all', name: string): void {
    const { seed, leaseMs, workers, tabs, hasOneConnection } = this.#deps
    const isShort = chance(seed, `${name} short`) < 0.5
    const isLong = !hasOneConnection && chance(seed, `${name} long`) < LONG_SUSPEND_SHARE
    const longest = isShort ? leaseMs : isLong ? LONG_SUSPEND_MS_MAX : SUSPEND_MS_MAX
    const ms = pick(seed, `${name} ms`, isShort ? SUSPEND_MS_MIN : leaseMs, longest)
    const all = [...workers.values()].map((worker) => worker.process)
    for (const sleeper of fault === 'suspend all' || tabs ? all : [process]) sleeper.suspend(ms)
    this.counts.suspends++
  }

  async #stop({ process, durably }: SimWorker): Promise<void> {
    const { seed, tabs } = this.#deps
    tabs?.stops(process)
    await durably.stop(chance(seed, `timeout of ${process.name}`) < 0.5 ? { timeout: 2000 } : {})
    await tabs?.stopped(process)
    process.kill()
  }

  async #command(fault: keyof typeof COMMANDS, name: string): Promise<void> {
    const { seed, store, client, as } = this.#deps
    const all = await store.runs.list({})
    const { verb, isFor } = COMMANDS[fault]
    const likely = all.filter(({ status }) => isFor(status))
    const rows = likely.length > 0 && chance(seed, `${name} likely`) < LIKELY_SHARE ? likely : all
    const run = rows[pick(seed, `${name} run`, 0, Math.max(0, rows.length - 1))]
    if (run) client.command((durably) => durably[verb](run.id, as))
  }

  /** Removes all that has ended before a failed run with children is retried, or right after such a run was cancelled. */
  async #family(fault: 'clear and retry' | 'cancel and clear', name: string): Promise<void> {
    const { seed, store, client, as } = this.#deps
    const all = await store.runs.list({})
    const parents = new Set(all.map(({ parentRunId }) => parentRunId))
    const families = all.filter(
      ({ id, status }) => parents.has(id) && (fault === 'clear and retry' ? status === 'failed' : !isTerminal(status)),
    )
    const run = families[pick(seed, `${name} run`, 0, Math.max(0, families.length - 1))]
    if (!run) return
    this.counts.families++
    client.command(async (durably) => {
      if (fault === 'cancel and clear') await durably.cancel(run.id, as)
      await durably.purge({ olderThan: 0 })
      if (fault === 'clear and retry') await durably.retry(run.id, as)
    })
  }
}
