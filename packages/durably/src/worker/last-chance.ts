// LastChance — a run that fails if it loses its worker once more is executed with nothing beside it (ADR 0026).
// Loaded with the first such run that a worker claims; from then on it decides how much that worker claims.
//   L1. Nothing starts beside such a run until it has ended or recorded a step, so that it does not fail for what another run does to the process.
//   L2. A worker that has claimed one beside others gives it back, and claims nothing more until it has room for it.
//   L3. Both last for a lease at most: runs that take hours must not keep the other slots of a worker empty.
import type { RunRow } from '../model/run.ts'
import type { ActiveExecutions } from './active-executions.ts'
import type { untilLeaseIsOver } from './lease/until-lease-is-over.ts'
import type { WorkerDeps } from './worker-deps.ts'

export interface LastChanceDeps extends WorkerDeps {
  active: ActiveExecutions
}

/** Given, not imported: what this file shares with the worker would become a file of its own. */
type UntilLeaseIsOver = typeof untilLeaseIsOver

export class LastChance {
  readonly #deps: LastChanceDeps
  readonly #until: UntilLeaseIsOver
  /** The run that has the worker to itself, and until when. */
  #alone: { id: string; untilMs: number } | null = null
  /** Until when the worker makes room for such a run; null if it does not. */
  #roomUntilMs: number | null = null

  constructor(deps: LastChanceDeps, until: UntilLeaseIsOver) {
    this.#deps = deps
    this.#until = until
    deps.emitter.on('step:complete', ({ runId }) => {
      if (runId === this.#alone?.id) this.#alone = null
    })
  }

  /** How many of the free slots may be filled now. */
  slots(free: number): number {
    if (this.#isAlone()) return 0
    if (this.#roomUntilMs === null || this.#isOver(this.#roomUntilMs)) return free
    return this.#deps.active.size === 0 ? Math.min(free, 1) : 0
  }

  /** The claimed runs that may start now. The others are given back. */
  async sift(claimed: readonly RunRow[]): Promise<readonly RunRow[]> {
    const startable = claimed.filter((run) => this.#mayStart(run, claimed.length - 1))
    for (const run of claimed) if (!startable.includes(run)) await this.#giveBack(run)
    return startable
  }

  #mayStart({ id, recoveries }: RunRow, others: number): boolean {
    const { active, env, leaseMs, maxRecoveries } = this.#deps
    if (id === this.#alone?.id) return true
    if (this.#isAlone()) return false
    const isLast = recoveries > 0 && recoveries >= maxRecoveries
    if (!isLast) {
      if (others === 0) this.#roomUntilMs = null
      return true
    }
    const limitMs = env.mono() + leaseMs
    if (active.size + others === 0) this.#alone = { id, untilMs: limitMs }
    else if (this.#roomUntilMs === null || !this.#isOver(this.#roomUntilMs)) {
      this.#roomUntilMs ??= limitMs
      return false
    }
    this.#roomUntilMs = null
    return true
  }

  #isAlone(): boolean {
    const { active } = this.#deps
    const { id, untilMs } = this.#alone ?? {}
    if (untilMs === undefined) return false
    if (this.#isOver(untilMs) || !active.find(({ run }) => run.id === id)) this.#alone = null
    return this.#alone !== null
  }

  #isOver(untilMs: number): boolean {
    return this.#deps.env.mono() >= untilMs
  }

  async #giveBack(run: RunRow): Promise<void> {
    const { store, runEvents } = this.#deps
    const { id: runId, leaseGeneration: generation, leaseOwner, parentRunId, leaderEpoch } = run
    const claim = { runId, generation, token: leaseOwner ?? '', parentRunId, leaderEpoch }
    const nothing = { events: [], logs: [], progress: null, streams: null, effects: null }
    const release = { claim, number: 1, verb: { type: 'release' } as const, ...nothing }
    const outcome = await this.#until(this.#deps, () => store.runs.apply([release]))
    if (outcome?.[0]?.ok) runEvents.emit('run:release', () => ({ run, payload: { generation } }))
  }
}
