// RunClock — the store's clock for one execution. The answer to the claim gave its time. When the clocks of this process differ since then,
// the store is asked again, so that sleeps, delays and deadlines are neither early nor late (store-time.ts).
import type { Moment } from '../../model/moment.ts'
import type { RunRow } from '../../model/run.ts'
import type { LeaseAge } from './lease-age.ts'
import type { Owner, OwnerDeps } from './owner.ts'
import { StoreTime } from './store-time.ts'
import { untilLeaseIsOver } from './until-lease-is-over.ts'

/** A run that this process has claimed. */
export interface Claimed {
  run: RunRow
  lease: LeaseAge
  /** Just before the claim was sent. */
  sent: Moment
  /** When the claim was answered. */
  answered: Moment
}

export class RunClock {
  readonly #deps: OwnerDeps
  readonly #claimed: Claimed
  readonly #owner: Owner
  /** When the run was claimed, by the store's clock. */
  readonly claimedAt: number
  /** By the store's last answer. */
  time: StoreTime
  /** The question that is not answered yet. */
  #asking: Promise<void> | null = null

  constructor(deps: OwnerDeps, claimed: Claimed, owner: Owner) {
    this.#deps = deps
    this.#claimed = claimed
    this.#owner = owner
    this.claimedAt = (claimed.run.leaseExpiresAt ?? 0) - deps.leaseMs
    this.time = new StoreTime(deps.env, this.claimedAt, claimed.sent, claimed.answered)
  }

  /** The store's time now, for what begins now: never early, and not late by what a clock was adjusted. */
  async storeNow(): Promise<number> {
    while (!this.time.isKnown && !this.#owner.isOver) await this.askForTime()
    return this.time.latest()
  }

  /** Asks the store for its time. All who ask before the answer get this one, so none of them knows the time later than another. */
  askForTime(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /** An accepted write leaves the time in the row, as the end of the lease. */
  async #ask(): Promise<void> {
    const { store, env, leaseMs, report } = this.#deps
    const { run, lease } = this.#claimed
    try {
      if (!(await this.#owner.write({ type: 'heartbeat' }))) return
      const sent = lease.renewedAt
      const row = await untilLeaseIsOver(this.#deps, () => store.runs.get(run.id))
      // Marked again meanwhile: the end of the lease says nothing, and the store is asked anew.
      if (row?.leaseGeneration === run.leaseGeneration && row.continuationState !== null) return
      if (row?.leaseGeneration === run.leaseGeneration && row.leaseExpiresAt !== null) {
        this.time = new StoreTime(env, row.leaseExpiresAt - leaseMs, sent, lease.now())
        return
      }
    } catch (error) {
      report(error, run.id)
    }
    this.#owner.loseToSilence()
  }
}
