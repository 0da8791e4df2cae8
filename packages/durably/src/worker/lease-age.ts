// LeaseAge — how long ago a lease was last renewed, as this process can know it: counted from when the renewal was sent,
// not from when its answer came. A sleeping machine stops one clock, an adjusted one moves the other: the larger counts.
import type { Env } from '../model/env.ts'

export interface Moment {
  wall: number
  mono: number
}

export function momentOf(env: Env): Moment {
  return { wall: env.wall(), mono: env.mono() }
}

export class LeaseAge {
  readonly #env: Env
  #renewed: Moment

  /** `claimed`: before the claim was sent. */
  constructor(env: Env, claimed: Moment) {
    this.#env = env
    this.#renewed = claimed
  }

  now(): Moment {
    return momentOf(this.#env)
  }

  renewed(sent: Moment): void {
    this.#renewed = sent
  }

  ms(): number {
    return this.#ms(this.#env.mono(), this.#env.wall())
  }

  msAt({ mono, wall }: Moment): number {
    return this.#ms(mono, wall)
  }

  #ms(mono: number, wall: number): number {
    return Math.max(mono - this.#renewed.mono, wall - this.#renewed.wall)
  }
}
