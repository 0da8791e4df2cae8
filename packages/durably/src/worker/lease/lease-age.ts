// LeaseAge — how long ago a lease was last renewed, counted from when the renewal was sent, not from when its answer came.
// A sleeping machine stops the monotonic clock and an adjustment moves the wall clock, so the larger of both ages counts.
import type { Env } from '../../model/env.ts'

export interface Moment {
  wall: number
  mono: number
}

export function momentOf(env: Env): Moment {
  return { wall: env.wall(), mono: env.mono() }
}

export class LeaseAge {
  readonly #env: Env
  /** When the last accepted renewal was sent. */
  renewedAt: Moment

  /** `claimed`: before the claim was sent. */
  constructor(env: Env, claimed: Moment) {
    this.#env = env
    this.renewedAt = claimed
  }

  now(): Moment {
    return momentOf(this.#env)
  }

  ms(): number {
    return Math.max(this.#env.mono() - this.renewedAt.mono, this.#env.wall() - this.renewedAt.wall)
  }
}
