// StoreTime — what this process knows of the store's clock: what it last said, and how much time went by since.
//   T1. A sleeping machine stops the monotonic clock, an adjustment moves the wall clock, and this process cannot know which of the two
//       happened. So when the clocks differ, the store is asked.
//   T2. A time is over when both clocks say so, and it is ahead when the clocks agree and say so. When the answer of the store took
//       long, its time may be that of the request or that of the answer, so the store is asked again.
import type { Env } from '../../model/env.ts'
import { clocksDiffer, DIFFERENCE_MS_MAX, elapsedMs, type Moment } from '../../model/moment.ts'

export class StoreTime {
  readonly #env: Env
  readonly #said: number
  readonly #asked: Moment
  readonly #answered: Moment

  /** The store's clock showed `said` at some moment between the request (`asked`) and its answer (`answered`). */
  constructor(env: Env, said: number, asked: Moment, answered: Moment) {
    this.#env = env
    this.#said = said
    this.#asked = asked
    this.#answered = answered
  }

  /** Never early, however long the answer took. */
  latest(): number {
    return this.#said + elapsedMs(this.#env, this.#asked)
  }

  /** Never late, as long as no clock was adjusted. */
  earliest(): number {
    return this.#said + this.#env.mono() - this.#answered.mono
  }

  /** Both clocks show the same time since the store was asked (T1). */
  get isKnown(): boolean {
    return !clocksDiffer(this.#env, this.#asked)
  }

  /** `undefined` when only the store knows (T2). */
  isPast(time: number): boolean | undefined {
    const byMono = this.earliest()
    const byWall = this.#said + this.#env.wall() - this.#answered.wall
    const first = Math.min(byMono, byWall)
    const last = Math.max(byWall, this.latest())
    if (!this.isKnown) return first >= time || undefined
    if (last - first < DIFFERENCE_MS_MAX) return byMono >= time
    return first >= time || (last < time ? false : undefined)
  }
}
