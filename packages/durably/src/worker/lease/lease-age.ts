// LeaseAge — how long ago a lease was last renewed, counted from when the renewal was sent, not from when its answer came.
// The larger of both ages counts (model/moment.ts).
import type { Env } from '../../model/env.ts'
import { clocksDiffer, elapsedMs, type Moment, momentOf } from '../../model/moment.ts'

export class LeaseAge {
  readonly #env: Env
  /** When the last accepted renewal was sent. */
  renewedAt: Moment

  /** `claimed`: a moment before the claim was sent. */
  constructor(env: Env, claimed: Moment) {
    this.#env = env
    this.renewedAt = claimed
  }

  now(): Moment {
    return momentOf(this.#env)
  }

  ms(): number {
    return elapsedMs(this.#env, this.renewedAt)
  }

  /**
   * How much of this time is left. If only one clock says that it is over, that one may have been set, and the other counts. If both do, the process
   * was paused, and all of it is left.
   */
  leftOf(ms: number): number {
    const { mono, wall } = this.renewedAt
    const ages = [this.#env.mono() - mono, this.#env.wall() - wall].filter((age) => age < ms)
    return ms - Math.max(0, ...ages)
  }

  /** The clocks differ, so the lease may be older than both say: the machine may have slept, and its clock may have been set back. */
  get isUnknown(): boolean {
    return clocksDiffer(this.#env, this.renewedAt)
  }
}
