// Duties — what exactly one of all processes does. Called by the worker when its probe says that something is due.
import { within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { Election, type ElectionDeps } from './election.ts'
import { type FireDeps, fireDue } from './fire-due.ts'

/** A process that ends does not wait longer for a database that does not answer; its lease ends by itself. */
const RESIGN_MS_MAX = 1000

/** Nothing came of it: the clock of the store was set back, a schedule was changed meanwhile, or it cannot be read here. */
const AGAIN_MS = 1000

export interface Performed {
  /** Whether anything was done. */
  isDone: boolean
  /** In how many milliseconds to look again, unless a probe says it better. */
  againInMs: number
}

export interface Duties {
  perform(): Promise<Performed>
  /** When the worker stops, so that another process need not wait for the end of the lease. */
  resign(): Promise<void>
}

export class ElectedDuties implements Duties {
  readonly #deps: FireDeps
  readonly #election: Election
  #performing: Promise<Performed> | null = null

  constructor(deps: FireDeps & ElectionDeps) {
    this.#deps = deps
    this.#election = new Election(deps)
  }

  /** All callers of one moment share what one of them does. */
  perform(): Promise<Performed> {
    this.#performing ??= this.#perform().finally(() => {
      this.#performing = null
    })
    return this.#performing
  }

  async #perform(): Promise<Performed> {
    const led = this.#election.current
    const epoch = await this.#election.epoch()
    if (led !== null && epoch !== led) this.#report(led)
    if (epoch === null) return { isDone: false, againInMs: this.#election.askInMs }
    const { fired, isDeposed } = await fireDue(this.#deps, epoch)
    if (isDeposed) {
      this.#election.deposed()
      this.#report(epoch)
    }
    return { isDone: fired > 0, againInMs: fired > 0 ? 0 : AGAIN_MS }
  }

  #report(epoch: number): void {
    this.#deps.report(
      new DurablyError(
        'leader_deposed',
        `this process was silent for too long and leads no more as epoch ${epoch}; another one fires the schedules`,
      ),
    )
  }

  async resign(): Promise<void> {
    const { env, report } = this.#deps
    await this.#performing?.catch(() => {})
    await within(env, RESIGN_MS_MAX, this.#election.resign().catch(report))
  }
}
