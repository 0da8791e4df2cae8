// Fleet — this process as one of many workers: its entry in the register, and what it does as their leader (`dispatch: 'leader'`).
//   F1. An entry is renewed well before it ends. A worker that is detached starts nothing; one that is draining starts only what it has.
//   F2. A worker takes what was chosen for it and asks for more when it has run out: its change notification wakes the leader.
import type { RunEvents } from '../events/run-events.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { RunRow } from '../model/run.ts'
import type { AssignedRun } from '../store/cluster/assignments.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { WorkerState } from '../store/cluster/workers.ts'
import type { Change } from '../store/notifier.ts'
import type { ClaimRequest, RunStore } from '../store/runs.ts'
import type { FleetOptions } from './fleet-options.ts'
import { planAssignments, roomOf } from './plan-assignments.ts'

const BEAT_MS = 5000
const ENTRY_MS = 3 * BEAT_MS
/** A due run may also wait for a key, for long. */
const LOOK_MS_MIN = 1000
/** How many runs a leader assigns at once. */
const ASSIGN_MAX = 200
/** The register has no larger number, and no worker needs one. */
const CAPACITY_MAX = 2 ** 31 - 1

export interface FleetDeps {
  runs: RunStore
  cluster: ClusterStore
  env: Env
  runEvents: RunEvents
  publish: (change: Change) => void
  report: (error: unknown) => void
  concurrency: number
  /** The jobs that this worker executes. */
  jobNames: () => string[]
}

export class Fleet {
  readonly #deps: FleetDeps
  readonly #options: FleetOptions
  readonly #workerId: string
  readonly #token: string
  /** Null before the first entry, and while another process has the name. */
  #state: WorkerState | null = null
  #beatAt = Number.NEGATIVE_INFINITY
  #orphansAt = Number.NEGATIVE_INFINITY
  #hadRuns = false

  constructor(deps: FleetDeps, options: FleetOptions, workerId: string) {
    this.#deps = deps
    this.#options = options
    this.#workerId = workerId
    this.#token = deps.env.id()
  }

  get dispatches(): boolean {
    return this.#options.dispatch === 'leader'
  }

  /** In how many milliseconds the entry is to be renewed. */
  get beatInMs(): number {
    return Math.max(0, this.#beatAt - this.#deps.env.mono())
  }

  /** In how many milliseconds to look again; `due`: there is a run that may have been left to another worker. */
  lookInMs(due: boolean): number {
    const { preferMs } = this.#options
    return due && preferMs > 0 ? Math.min(this.beatInMs, Math.max(preferMs, LOOK_MS_MIN)) : this.beatInMs
  }

  /** F1. */
  async attend(): Promise<void> {
    if (this.beatInMs > 0) return
    const { cluster, env, concurrency, jobNames, report, publish } = this.#deps
    const { labels, version } = this.#options
    const before = this.#state
    this.#state = await cluster.attend({
      id: this.#workerId,
      token: this.#token,
      labels: JSON.stringify(labels),
      capacity: Math.min(concurrency, CAPACITY_MAX),
      jobNames: JSON.stringify(jobNames()),
      version,
      lastsMs: ENTRY_MS,
    })
    this.#beatAt = env.mono() + BEAT_MS
    if (this.#state === null)
      report(
        new DurablyError(
          'worker_id_taken',
          `another process is attached as worker ${JSON.stringify(this.#workerId)}; give each its own workerId`,
        ),
      )
    else if (before === null && this.dispatches) publish({ type: 'work' })
  }

  async leave(): Promise<void> {
    if (this.#state === null) return
    this.#state = null
    // A worker that is started again enters at once.
    this.#beatAt = Number.NEGATIVE_INFINITY
    await this.#deps.cluster.leave({ id: this.#workerId, token: this.#token })
  }

  /** The claim of this worker, as its state and the way of dispatching allow. */
  async claim(request: ClaimRequest): Promise<RunRow[]> {
    const { cluster, publish } = this.#deps
    const isDraining = this.#state === 'draining'
    if (this.#state === null || this.#state === 'detached') return []
    // A leader may have chosen it before, also if it takes runs by itself.
    if (!this.dispatches && !isDraining)
      return cluster.claimOpen({ ...request, workerId: this.#workerId, preferMs: this.#options.preferMs })
    const claimed = await cluster.claimAssigned({ ...request, workerId: this.#workerId })
    const hasRunOut = claimed.length < request.tokens.length && (claimed.length > 0 || this.#hadRuns)
    this.#hadRuns = claimed.length > 0
    if (hasRunOut) publish({ type: 'work' })
    return claimed
  }

  /** What a leader does: it takes runs from workers that are gone, and gives those that are due to workers with room. */
  async dispatch(epoch: number): Promise<{ assigned: number; isDeposed: boolean }> {
    const { cluster } = this.#deps
    const orphaned = await this.#orphan(epoch)
    const workers = (await cluster.workers()).filter((worker) => roomOf(worker) > 0)
    const room = workers.reduce((sum, worker) => sum + roomOf(worker), 0)
    if (orphaned === null || room === 0) return { assigned: 0, isDeposed: orphaned === null }
    const jobNames = [...new Set(workers.flatMap((worker) => JSON.parse(worker.jobNames) as string[]))]
    const assignments = planAssignments(await cluster.findUnassigned({ jobNames, limit: Math.min(room, ASSIGN_MAX) }), workers)
    if (assignments.length === 0) return { assigned: 0, isDeposed: false }
    const assigned = await cluster.assign({ epoch, assignments })
    if (assigned) this.#announce('run:assign', assigned)
    return { assigned: assigned?.length ?? 0, isDeposed: assigned === null }
  }

  async #orphan(epoch: number): Promise<AssignedRun[] | null> {
    const { cluster, env } = this.#deps
    if (env.mono() < this.#orphansAt) return []
    const orphaned = await cluster.orphan({ epoch, reassignAfterMs: this.#options.reassignAfterMs })
    this.#orphansAt = env.mono() + BEAT_MS
    if (orphaned) this.#announce('run:orphan', orphaned)
    return orphaned
  }

  #announce(type: 'run:assign' | 'run:orphan', runs: readonly AssignedRun[]): void {
    const { runEvents, publish } = this.#deps
    for (const { workerId, ...run } of runs) {
      runEvents.emit(type, () => ({ run, payload: { workerId } }))
      publish({ type: 'events', runId: run.id })
    }
    if (runs.length > 0) publish({ type: 'work' })
  }
}
