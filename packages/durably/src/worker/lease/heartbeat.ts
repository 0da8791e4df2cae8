// Heartbeat — keeps one lease alive while its run executes, and brings forward what waits to be written.
// Owns the time of the next beat. Does not decide what happens to the run.
//   H1. Every accepted write renews the lease, so a run that records steps often needs no beat of its own.
//   H2. If the store accepts nothing for a whole lease, the lease counts as lost, so a silent store cannot leave two owners running.
//       A beat that only waits behind other writes of its run is not late while those are accepted.
//   H3. After a long pause of the process a beat is sent first: if nobody took the run meanwhile, it goes on (R1 decides).
import type { Env } from '../../model/env.ts'
import type { HeartbeatTimer } from './heartbeat-timer.ts'
import type { LeaseAge } from './lease-age.ts'
import type { Owner } from './owner.ts'

/** The same for all runs of a worker. */
interface HeartbeatDeps {
  env: Env
  heartbeatTimer: HeartbeatTimer
  leaseMs: number
  heartbeatMs: number
}

/** The execution that the heartbeat keeps alive. */
interface Beating {
  readonly owner: Owner
  beaten(): void
}

export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #execution: Beating
  readonly #owner: Owner
  readonly #lease: LeaseAge
  #dueAt = Number.POSITIVE_INFINITY
  #beating = false
  #beatAgain = false
  #stopped = false

  constructor(deps: HeartbeatDeps, execution: Beating, lease: LeaseAge, now: number) {
    this.#deps = deps
    this.#execution = execution
    this.#owner = execution.owner
    this.#lease = lease
    this.#beatIn(deps.heartbeatMs, now)
  }

  stop(): void {
    this.#stopped = true
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  /** Nothing was accepted for a whole lease, and it is not lost yet. */
  get isLate(): boolean {
    return !this.#stopped && !this.#owner.lost && this.#lease.ms() >= this.#deps.leaseMs
  }

  /** Writes at once, because the answer brings what others have asked for: a cancel. */
  beatNow(): void {
    if (this.#stopped || this.#owner.lost) return
    // A beat that is under way may have reached the store before the cancel did.
    if (this.#beating) this.#beatAgain = true
    else void this.#beat(this.#lease.ms())
  }

  /** Writes what is attached within `ms`, unless another write takes it first. */
  carryWithin(ms: number): void {
    if (this.#stopped || this.#beating) return
    if (this.#deps.env.mono() + ms < this.#dueAt) this.#beatIn(ms)
  }

  beatIfDue(): void {
    const { env, heartbeatTimer } = this.#deps
    if (this.#dueAt > env.mono()) heartbeatTimer.by(this.#dueAt)
    else this.#due()
  }

  #due(): void {
    const { heartbeatMs, leaseMs } = this.#deps
    const owner = this.#owner
    if (owner.lost) return
    const age = this.#lease.ms()
    if (this.#beating) {
      if (age >= leaseMs) owner.loseToSilence()
      else this.#beatIn(leaseMs - age)
      return
    }
    if (age >= heartbeatMs || owner.hasUrgent) void this.#beat(age)
    else this.#beatIn(heartbeatMs - age)
  }

  async #beat(age: number): Promise<void> {
    const { leaseMs, heartbeatMs } = this.#deps
    const owner = this.#owner
    this.#beating = true
    this.#beatIn(age < leaseMs ? leaseMs - age : leaseMs)
    try {
      await owner.write({ type: 'heartbeat' })
    } catch {
      // Only attached data can be rejected (O4): it is dropped, and the next beat renews the lease.
    }
    this.#beating = false
    if (this.#stopped || owner.lost) return
    this.#execution.beaten()
    this.#beatIn(owner.hasUrgent ? CARRY_AGAIN_MS : heartbeatMs)
    if (!this.#beatAgain) return
    this.#beatAgain = false
    this.beatNow()
  }

  #beatIn(afterMs: number, now = this.#deps.env.mono()): void {
    // Whole milliseconds: a rounding error must not make it due again and again just before its time.
    this.#dueAt = now + Math.max(1, Math.ceil(afterMs))
    this.#deps.heartbeatTimer.by(this.#dueAt)
  }
}

/** For what was attached while a beat was under way. */
const CARRY_AGAIN_MS = 100
