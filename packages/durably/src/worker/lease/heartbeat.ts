// Heartbeat — keeps one lease alive while its run executes, and brings forward what waits to be written.
// Owns the time of the next beat. Does not decide what happens to the run.
//   H1. Every accepted write renews the lease, so a run that records steps often needs no beat of its own.
//   H2. If the store accepts nothing for a whole lease, and `confirmFor` after it, the lease counts as lost, so a silent store cannot leave two owners running.
//       A beat that only waits behind other writes of its run is not late while those are accepted.
//   H3. After a long pause of the process a beat is sent first: if nobody took the run meanwhile, it goes on (R1 decides).
import type { Alarm } from '../../model/alarm.ts'
import type { Env } from '../../model/env.ts'
import type { LeaseAge } from './lease-age.ts'
import type { Owner } from './owner.ts'

/** Others can read progress and log lines within this time. They cause one write in it, however many there are. */
const CARRY_WITHIN_MS = 100

/** The same for all runs of a worker. */
export interface HeartbeatDeps {
  env: Env
  /** Has each heartbeat asked whether it is due: one for all runs, most of which end before theirs is. */
  beats: Alarm
  leaseMs: number
  confirmMs: number
  heartbeatMs: number
}

/** The execution that the heartbeat keeps alive. */
interface BeatingExecution {
  readonly owner: Owner
  onHeartbeat(): void
}

export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #execution: BeatingExecution
  readonly #owner: Owner
  readonly #lease: LeaseAge
  #dueAt = Number.POSITIVE_INFINITY
  /** When what is attached must be written. Another write that takes it first resets this, so that no beat follows for nothing. */
  #carryBy = Number.POSITIVE_INFINITY
  #beating = false
  #beatAgain = false
  #stopped = false

  constructor(deps: HeartbeatDeps, execution: BeatingExecution, lease: LeaseAge, now: number) {
    this.#deps = deps
    this.#execution = execution
    this.#owner = execution.owner
    this.#lease = lease
    this.#beatIn(deps.heartbeatMs, now)
  }

  stop(): void {
    this.#stopped = true
    this.#dueAt = Number.POSITIVE_INFINITY
    this.carried()
  }

  /** Nothing was accepted for a whole lease, and it is not lost yet. */
  get isLate(): boolean {
    return !this.#stopped && !this.#owner.isOver && this.#lease.ms() >= this.#deps.leaseMs
  }

  /** Writes at once, because the answer brings what others have asked for: a cancel. */
  beatNow(): void {
    if (this.#stopped || this.#owner.isOver) return
    // A beat that is under way may have reached the store before the cancel did.
    if (this.#beating) this.#beatAgain = true
    else void this.#beat()
  }

  /** Writes what is attached within 100 ms, unless another write takes it first. */
  carrySoon(): void {
    if (this.#stopped) return
    this.#carryBy = Math.min(this.#carryBy, this.#deps.env.mono() + CARRY_WITHIN_MS)
    this.#arm()
  }

  /** A write takes what is attached. */
  carried(): void {
    this.#carryBy = Number.POSITIVE_INFINITY
  }

  beatIfDue(): void {
    const now = this.#deps.env.mono()
    if (this.#nextAt > now) this.#arm()
    else this.#due(now)
  }

  #due(now: number): void {
    const { heartbeatMs, leaseMs, confirmMs } = this.#deps
    const holdMs = leaseMs + confirmMs
    const owner = this.#owner
    if (owner.isOver) return
    const age = this.#lease.ms()
    if (this.#beating) {
      if (age >= holdMs) owner.loseToSilence()
      else this.#beatIn(holdMs - age)
      return
    }
    if (age >= heartbeatMs || this.#carryBy <= now) void this.#beat()
    else this.#beatIn(heartbeatMs - age)
  }

  async #beat(): Promise<void> {
    const { leaseMs, confirmMs, heartbeatMs } = this.#deps
    const owner = this.#owner
    this.#beating = true
    this.#beatIn(this.#lease.leftOf(leaseMs + confirmMs))
    try {
      await owner.write({ type: 'heartbeat' })
    } catch {
      // A heartbeat has no data of its own that could be rejected (O4). If the store rejects it all the same, the next one tries again.
    }
    this.#beating = false
    if (this.#stopped || owner.isOver) return
    this.#execution.onHeartbeat()
    // If the answer took long, another beat must be under way when the lease is over: else that would pass for a pause of the process (H3).
    this.#beatIn(this.#lease.ms() < heartbeatMs ? heartbeatMs : 0)
    if (!this.#beatAgain) return
    this.#beatAgain = false
    this.beatNow()
  }

  #beatIn(afterMs: number, now = this.#deps.env.mono()): void {
    // Whole milliseconds: a rounding error must not make it due again and again just before its time.
    this.#dueAt = now + Math.max(1, Math.ceil(afterMs))
    this.#arm()
  }

  /** What is attached while a beat is under way waits until that beat has ended. */
  get #nextAt(): number {
    return this.#beating ? this.#dueAt : Math.min(this.#dueAt, this.#carryBy)
  }

  #arm(): void {
    this.#deps.beats.setAtMost(this.#nextAt)
  }
}
