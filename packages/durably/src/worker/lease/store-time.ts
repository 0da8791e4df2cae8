// StoreTime — what this process knows of the store's clock: what it last said, and how much time went by since.
//   T1. A machine that sleeps stops one of our clocks, an adjusted one moves the other, and here nobody can tell which it was: when
//       they differ only the store knows.
//   T2. A time is over when both clocks say so. Only the store knows, too, when its answer took long: what it said may have been true
//       when it was asked, or when that was heard.
import type { Env } from '../../model/env.ts'
import type { Moment } from './lease-age.ts'

/** Less is believed: answers take a while, one clock has whole milliseconds only, and both are corrected bit by bit. */
const DIFFERENCE_MS_MAX = 1000

export class StoreTime {
  readonly #env: Env
  readonly #said: number
  readonly #asked: Moment
  readonly #heard: Moment

  /** It was `said` o'clock at some moment after it was asked and before that was heard. */
  constructor(env: Env, said: number, asked: Moment, heard: Moment) {
    this.#env = env
    this.#said = said
    this.#asked = asked
    this.#heard = heard
  }

  /** Never early, however long the answer took. */
  latest(): number {
    return this.#said + Math.max(this.#env.mono() - this.#asked.mono, this.#env.wall() - this.#asked.wall)
  }

  /** Never late, as long as no clock was adjusted. */
  earliest(): number {
    return this.#said + this.#env.mono() - this.#heard.mono
  }

  /** Both clocks went on alike since it was asked (T1). */
  get isKnown(): boolean {
    const since = this.#env.mono() - this.#asked.mono
    return Math.abs(this.#env.wall() - this.#asked.wall - since) < DIFFERENCE_MS_MAX
  }

  /** `undefined` when only the store knows (T2). */
  isPast(time: number): boolean | undefined {
    const byMono = this.earliest()
    const byWall = this.#said + this.#env.wall() - this.#heard.wall
    const first = Math.min(byMono, byWall)
    const last = Math.max(byWall, this.latest())
    if (last - first < DIFFERENCE_MS_MAX) return byMono >= time
    return first >= time || (last < time ? false : undefined)
  }
}
