// Duties — what exactly one of all processes does. Called by the worker when its probe says that something is due.
import { within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { type DeliverDeps, deliverDue } from './deliver-due.ts'
import { Election, type ElectionDeps } from './election.ts'
import { fireDue } from './fire-due.ts'
import type { Fleet } from './fleet.ts'
import { isLasting } from './is-lasting.ts'

/** A process that ends does not wait longer for a database that does not answer; its lease ends by itself. */
const RESIGN_MS_MAX = 1000

/** Nothing came of it: it failed, the clock of the store was set back, a schedule was changed meanwhile, or it cannot be read here. */
const AGAIN_MS = 1000

/** What is due. */
export interface DueDuties {
  /** Whether a run of this process is. */
  due: boolean
  /** In how many milliseconds a schedule is. */
  dutyInMs: number
  /** Whether events were not delivered yet. */
  hasEvents: boolean
}

export interface Performed {
  /** Whether anything was done. */
  isDone: boolean
  /** In how many milliseconds to look again, unless a probe says it better. */
  againInMs: number
}

/** When nothing is performed. */
export interface WorkOfInstance {
  /** From a stop until the instance works again: what still looks for work must not lead, nor be in the register, after it has resigned. */
  isOver?: boolean
  /** A test lets time pass without duties. */
  isWithheld?: boolean
}

export interface Duties {
  perform(due: DueDuties, work: WorkOfInstance): Promise<Performed>
  /** When the worker stops, so that another process need not wait for the end of the lease. */
  resign(): Promise<void>
}

export class ElectedDuties implements Duties {
  readonly #deps: DeliverDeps
  readonly #election: Election
  readonly #fleet: Fleet | null
  #performing: Promise<Performed> | null = null

  /** `fleet`: null where this process is not in the register. */
  constructor(deps: DeliverDeps & ElectionDeps, fleet: Fleet | null) {
    this.#deps = deps
    this.#election = new Election(deps)
    this.#fleet = fleet
  }

  /** All callers of one moment share what one of them does. */
  perform(due: DueDuties, { isOver, isWithheld }: WorkOfInstance): Promise<Performed> {
    if (isOver || isWithheld) return Promise.resolve({ isDone: false, againInMs: AGAIN_MS })
    this.#performing ??= this.#orReport(() => this.#perform(due), { isDone: false, againInMs: AGAIN_MS }).finally(() => {
      this.#performing = null
    })
    return this.#performing
  }

  async #perform({ due, dutyInMs, hasEvents }: DueDuties): Promise<Performed> {
    const fleet = this.#fleet
    await fleet?.attend()
    const lookInMs = fleet?.lookInMs(due) ?? Number.POSITIVE_INFINITY
    if (dutyInMs > 0 && !hasEvents && !fleet?.dispatches) return { isDone: false, againInMs: Math.min(dutyInMs, lookInMs) }
    const led = this.#election.current
    const epoch = await this.#election.epoch()
    if (led !== null && epoch !== led) this.#report(led)
    if (epoch === null) return { isDone: false, againInMs: Math.min(this.#election.askInMs, lookInMs) }
    const { done, isDeposed } = await this.#lead(epoch, { dutyInMs, hasEvents })
    if (isDeposed) {
      this.#election.deposed()
      this.#report(epoch)
    }
    const againInMs = dutyInMs > 0 && !hasEvents ? dutyInMs : AGAIN_MS
    return { isDone: done > 0, againInMs: done > 0 ? 0 : Math.min(againInMs, lookInMs) }
  }

  /** One duty after the other; `done` counts what came of them. */
  async #lead(epoch: number, { dutyInMs, hasEvents }: Omit<DueDuties, 'due'>): Promise<{ done: number; isDeposed: boolean }> {
    const none = { fired: 0, isDeposed: false }
    const fired = dutyInMs > 0 ? none : await this.#orReport(() => fireDue(this.#deps, epoch), none)
    if (fired.isDeposed) return { done: fired.fired, isDeposed: true }
    const unsent = { delivered: 0, isDeposed: false }
    const sent = hasEvents ? await this.#orReport(() => deliverDue(this.#deps, epoch), unsent) : unsent
    const done = fired.fired + sent.delivered
    if (sent.isDeposed || !this.#fleet?.dispatches) return { done, isDeposed: sent.isDeposed }
    const { assigned, isDeposed } = await this.#fleet.dispatch(epoch)
    return { done: done + assigned, isDeposed }
  }

  /** What the database rejects, it rejects with every look. Neither the other duties nor the runs of this worker wait for that. */
  async #orReport<T>(duty: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await duty()
    } catch (error) {
      if (!isLasting(error)) throw error
      this.#deps.report(error)
      return otherwise
    }
  }

  #report(epoch: number): void {
    this.#deps.report(
      new DurablyError(
        'leader_deposed',
        `this process was silent for too long and leads no more as epoch ${epoch}; another one performs its duties`,
      ),
    )
  }

  async resign(): Promise<void> {
    await within(this.#deps.env, RESIGN_MS_MAX, this.#leave())
  }

  /** What is under way is waited for: it may lead or enter the register yet. */
  async #leave(): Promise<void> {
    const { report } = this.#deps
    await this.#performing?.catch(() => {})
    await Promise.all([this.#election.resign(), this.#fleet?.leave()].map((one) => one?.catch(report)))
  }
}
