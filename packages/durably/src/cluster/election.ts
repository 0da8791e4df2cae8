// Election — whether this process is the one that performs the duties of the cluster.
// Owns the epoch. Does not perform anything.
//   L1. It asks only when there is something to do: a program without duties sends nothing.
//   L2. A leader renews its lease when less than half of it is left. One that was refused does not ask again before the lease of the
//       leader can be over. So many processes cost few statements, and a leader that is gone is replaced soon after its lease.
//   L3. No clock here decides whether a write of the leader counts: the store refuses an old epoch (E2).
import type { Env } from '../model/env.ts'
import type { LeaderStore } from '../store/cluster/leaders.ts'
import { DEFAULT_SETTINGS } from '../store/cluster/settings.ts'

export interface ElectionDeps {
  cluster: LeaderStore
  env: Env
  /** The name of this process. */
  workerId: string
}

export class Election {
  readonly #deps: ElectionDeps
  readonly #token: string
  #epoch: number | null = null
  /** When to ask again, on the monotonic clock: for the lease, or to renew it. */
  #askAt = Number.NEGATIVE_INFINITY

  constructor(deps: ElectionDeps) {
    this.#deps = deps
    this.#token = deps.env.id()
  }

  /** The epoch in which this process leads; null if another one does. */
  async epoch(): Promise<number | null> {
    const { cluster, env, workerId } = this.#deps
    const now = env.mono()
    if (now < this.#askAt) return this.#epoch
    const { epoch, expiresInMs } = await cluster.lead({ workerId, token: this.#token, leaseMs: DEFAULT_SETTINGS.leaderLeaseMs })
    this.#epoch = epoch
    this.#askAt = epoch === null ? env.mono() + expiresInMs : now + expiresInMs / 2
    return epoch
  }

  /** The epoch in which it led when it last asked; null if it did not. */
  get current(): number | null {
    return this.#epoch
  }

  /** In how many milliseconds it is time to ask again. */
  get askInMs(): number {
    return Math.max(0, this.#askAt - this.#deps.env.mono())
  }

  /** The store says that another process leads. */
  deposed(): void {
    this.#epoch = null
    this.#askAt = Number.NEGATIVE_INFINITY
  }

  /** Lets another process lead at once. */
  async resign(): Promise<void> {
    const epoch = this.#epoch
    this.deposed()
    if (epoch !== null) await this.#deps.cluster.resign(epoch)
  }
}
