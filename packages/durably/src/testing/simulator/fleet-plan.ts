// FleetPlan — what the processes of a fleet are, decided by the seed of their world: how long each may be silent (`confirmFor`), who chooses its
// runs (`cluster()`), and whether old histories go to files (`archive`).
import type { ClusterOptions } from '../../cluster.ts'
import type { Labels } from '../../model/labels.ts'
import { chance, oneOf, pick } from './chance.ts'

const CONFIRMS_SHARE = 0.65
const CLUSTER_SHARE = 0.7
const ARCHIVES_SHARE = 0.35
/** Shorter than any retention. */
const ARCHIVE_AFTER_MS_MAX = 4900
const GPU = { gpu: 'yes' }
/** It is always there in the end, attached, and has all labels. */
const MAINSTAY = 'w0'
const LONE_LEADER = 'w1'
/** The share of runs that prefer a worker. */
const PREFERS_SHARE = 0.4
const ORDERS = ['drain', 'detach', 'attach'] as const
const ORDERS_MAX = 10

/** What an operator does with a worker, at a time of the world. */
export interface Order {
  name: string
  order: (typeof ORDERS)[number]
  atMs: number
}

interface FleetPlanOptions {
  seed: number
  leaseMs: number
  faultMs: number
  /** The tabs of a browser are no cluster: they have a leader of their own. */
  hasTabs: boolean
  faultFree: boolean
}

export class FleetPlan {
  readonly #options: FleetPlanOptions
  readonly isCluster: boolean
  readonly isArchiving: boolean

  constructor(options: FleetPlanOptions) {
    const { seed, hasTabs } = options
    this.#options = options
    this.isCluster = !hasTabs && chance(seed, 'cluster') < CLUSTER_SHARE
    this.isArchiving = chance(seed, 'archives') < ARCHIVES_SHARE
  }

  /** Each life of a worker has its own: a fleet is configured anew while it works. */
  confirmMsOf(process: string): number {
    const { seed, leaseMs } = this.#options
    if (chance(seed, 'confirms') >= CONFIRMS_SHARE || chance(seed, `confirms ${process}`) >= CONFIRMS_SHARE) return 0
    return Math.ceil(leaseMs * oneOf(seed, `confirms ${process} for`, [0.3, 1, 2.5]))
  }

  /** The name of a worker in the register: the same in all its lives, or a new one in each. */
  workerIdOf(process: string): string {
    const hasSameName = this.isCluster && chance(this.#options.seed, 'same name') < 0.5
    return hasSameName ? machineOf(process) : process
  }

  /** Null for a process that is not in the register and takes what it finds. */
  clusterOptionsOf(process: string): ClusterOptions | null {
    const { seed } = this.#options
    if (!this.isCluster) return null
    const machine = machineOf(process)
    const dispatch = this.#dispatchOf(process)
    // A process without labels must not be the only one that could execute some jobs.
    if (dispatch === 'none' && machine !== MAINSTAY) return null
    const hasGpu = machine === MAINSTAY || chance(seed, `gpu of ${machine}`) < 0.4
    return {
      dispatch: dispatch === 'leader' ? 'leader' : 'claim',
      labels: hasGpu ? GPU : {},
      reassignAfter: oneOf(seed, 'reassign after', [1000, 5000, 30_000]),
      preferFor: oneOf(seed, `prefer for of ${process}`, [0, 500, 2000, 20_000]),
    }
  }

  /** All have a leader; or one alone leads, and nobody else if it is silent; or each is as it comes. */
  #dispatchOf(process: string): 'leader' | 'claim' | 'none' {
    const { seed } = this.#options
    switch (oneOf(seed, 'dispatch', ['led', 'led', 'one leads', 'mixed'] as const)) {
      case 'led':
        return 'leader'
      case 'one leads':
        return machineOf(process) === LONE_LEADER ? 'leader' : 'claim'
      case 'mixed':
        return oneOf(seed, `dispatch of ${process}`, ['leader', 'claim', 'none'] as const)
    }
  }

  runsOn(job: string): Labels | undefined {
    return this.isCluster && chance(this.#options.seed, `${job} runs on`) < 0.3 ? GPU : undefined
  }

  /** The worker that a run prefers: one that is there, one that was there before, or one that comes later. */
  preferred(runId: string): string | undefined {
    const { seed } = this.#options
    if (!this.isCluster || chance(seed, `${runId} prefers`) >= PREFERS_SHARE) return undefined
    return this.workerIdOf(`w${pick(seed, `${runId} prefers machine`, 0, 2)}.${pick(seed, `${runId} prefers life`, 0, 1)}`)
  }

  archiveAfterMs(): number {
    return pick(this.#options.seed, 'archive after', 0, ARCHIVE_AFTER_MS_MAX)
  }

  orders(): Order[] {
    const { seed, faultMs, faultFree } = this.#options
    if (!this.isCluster || faultFree) return []
    return Array.from({ length: pick(seed, 'orders', 0, ORDERS_MAX) }, (_, i) => {
      const order = oneOf(seed, `order ${i}`, ORDERS)
      return { order, name: `order ${i} ${order}`, atMs: pick(seed, `time of order ${i}`, 0, faultMs) }
    })
  }

  /** In what state a worker is left when the faults stop. */
  stateInTheEnd(workerId: string): 'attached' | 'draining' | 'detached' {
    if (machineOf(workerId) === MAINSTAY) return 'attached'
    return oneOf(this.#options.seed, `state of ${workerId}`, ['attached', 'attached', 'draining', 'detached'] as const)
  }
}

/** `w0.1` is the second life of `w0`. */
function machineOf(process: string): string {
  return process.split('.')[0] ?? process
}
