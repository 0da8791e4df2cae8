// Duties — what exactly one of all processes does. Called by the worker when its probe says that something is due.
import { within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { Election, type ElectionDeps } from './election.ts'
import { type FireDeps, fireDue } from './fire-due.ts'
import type { Fleet } from './fleet.ts'

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
  /** `dutyInMs`: when a schedule is due. */
  perform(dutyInMs: number): Promise<Performed>
  /** When the worker stops, so that another process need not wait for the end of the lease. */
  resign(): Promise<void>
}

export class ElectedDuties implements Duties {
  readonly #deps: FireDeps
  readonly #election: Election
  readonly #fleet: Fleet | null
  #performing: Promise<Performed> | null = null

  /** `fleet`: null where this process is not in the register. */
  constructor(deps: FireDeps & ElectionDeps, fleet: Fleet | null) {
    this.#deps = deps
    this.#election = new Election(deps)
    this.#fleet = fleet
  }

  /** All callers of one moment share what one of them does. */
  perform(dutyInMs: number): Promise<Performed> {
    this.#performing ??= this.#perform(dutyInMs).finally(() => {
      this.#performing = null
    })
    return this.#performing
  }

  async #perform(dutyInMs: number): Promise<Performed> {
    const fleet = this.#fleet
    await fleet?.attend()
    const beatInMs = fleet?.beatInMs ?? Number.POSITIVE_INFINITY
    if (dutyInMs > 0 && !fleet?.dispatches) return { isDone: false, againInMs: Math.min(dutyInMs, beatInMs) }
    const led = this.#election.current
    const epoch = await this.#election.epoch()
    if (led !== null && epoch !== led) this.#report(led)
    if (epoch === null) return { isDone: false, againInMs: Math.min(this.#election.askInMs, beatInMs) }
    const { fired, isDeposed } = dutyInMs > 0 ? { fired: 0, isDeposed: false } : await fireDue(this.#deps, epoch)
    const dispatched = fleet?.dispatches && !isDeposed ? await fleet.dispatch(epoch) : { assigned: 0, isDeposed }
    if (dispatched.isDeposed) {
      this.#election.deposed()
      this.#report(epoch)
    }
    const isDone = fired + dispatched.assigned > 0
    const againInMs = dutyInMs > 0 ? dutyInMs : AGAIN_MS
    return { isDone, againInMs: isDone ? 0 : Math.min(againInMs, beatInMs) }
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
    const left = [this.#election.resign(), this.#fleet?.leave()].map((one) => one?.catch(report))
    await within(env, RESIGN_MS_MAX, Promise.all(left))
  }
}
