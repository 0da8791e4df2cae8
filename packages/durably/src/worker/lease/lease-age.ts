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

  /** The clocks differ, so the lease may be older than both say: the machine may have slept, and its clock may have been set back. */
  get isUnknown(): boolean {
    return clocksDiffer(this.#env, this.renewedAt)
  }
}
