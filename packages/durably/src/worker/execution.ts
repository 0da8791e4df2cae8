// Execution — one claimed run in this process: its lease, its signal, and whether it may go on.
//   X1. After the first reason to stop, calls of `ctx` reject, and what the job returns is ignored.
//   X2. Nothing ends while a step is in flight: two executions of one step must not overlap. Only a step that ignores its
//       signal is left behind: it is not waited for any more, when the time is over or the job has thrown. One that has returned is recorded.
//   X3. A timer does not fire while the machine sleeps, so deadlines are also checked before every function.
// The signal, the clock, streams, effects and waits are created on first use, because most executions never need them.
import type { EventRun } from '../events/run-event.ts'
import type { RunEvents } from '../events/run-events.ts'
import { iso } from '../model/env.ts'
import { DurablyError, type ErrorCode } from '../model/errors.ts'
import type { EventType, RecordedPayload } from '../model/event.ts'
import type { Progress, RunRow } from '../model/run.ts'
import { encodeWaits } from '../model/wait.ts'
import { type OwnerWrite, ownEventType, ownPayload } from '../store/owner-write.ts'
import { JobWait, type NotAwaited } from './job-wait.ts'
import { limitCode } from './lazy-limits.ts'
import { Heartbeat, type HeartbeatDeps } from './lease/heartbeat.ts'
import { Owner, type OwnerDeps } from './lease/owner.ts'
import { type Claimed, RunClock } from './lease/run-clock.ts'
import { Parking } from './steps/parking.ts'
import { UnrecordedEffects } from './steps/unrecorded-effects.ts'
import type { UnrecordedStreams } from './steps/unrecorded-streams.ts'
import { StepsInFlight } from './steps-in-flight.ts'
import type { TimeLimits } from './time-limit.ts'

const NO_WAITS = encodeWaits([])

/** How long functions have to react to their aborted signal before they are left behind. */
const IGNORED_ABORT_MS = 500

/** The same for all runs of a worker. */
export interface ExecutionDeps extends OwnerDeps, HeartbeatDeps {
  runEvents: RunEvents
}

/** What an event of an execution says, with its lease generation. */
type LeasedPayload = RecordedPayload & Required<Pick<RecordedPayload, 'generation'>>

/** Why an execution must stop. */
type Interruption = ErrorCode & ('cancel_requested' | 'lease_lost' | 'shutdown' | 'timeout' | 'parked' | 'job_failed')

/** Which later reason replaces which earlier one. */
const REPLACES: { [code in Interruption]?: Interruption } = { timeout: 'shutdown', lease_lost: 'job_failed' }

export class Execution {
  readonly run: RunRow
  readonly generation: number
  readonly owner: Owner
  readonly heartbeat: Heartbeat
  /** Null before the first stream, which creates it (`streamsOf` in steps/unrecorded-streams.ts). */
  streams: UnrecordedStreams | null = null
  #effects: UnrecordedEffects | null = null
  #parking: Parking | null = null
  /** Reported since the last write. */
  #progress: Progress | null = null
  readonly #jobWait = new JobWait()
  /** Functions that ignore their signal are not waited for any more, at the latest after `IGNORED_ABORT_MS`. */
  willStopWaiting = false
  /** Rolls back the open transaction; there is at most one. */
  undo: ((why: unknown) => void) | null = null
  readonly #deps: ExecutionDeps
  #abort: AbortController | null = null
  /** Why it must stop; `null` while it may go on. */
  interrupted: DurablyError | null = null
  readonly #inFlight = new StepsInFlight()
  /** Resolves when each stream that has returned so far has the place of its record among the writes. */
  finishing: Promise<void> | undefined
  /** When it was asked to stop. */
  #interruptedAt = Number.POSITIVE_INFINITY
  /** It holds its slot for longer than a lease and may never end by itself. */
  isStuck = false
  readonly #claimed: Claimed
  #clock: RunClock | null = null
  /** Null while it has no limits. */
  limits: TimeLimits | null = null
  /** The job function has ended: no call of `ctx` may begin, and the run does not park any more. */
  #closed = false
  /** A call of `ctx` was rejected because of the interruption, so the job's result cannot be trusted. */
  hasRejectedCall = false

  constructor(deps: ExecutionDeps, claimed: Claimed) {
    const { run, lease, answered } = claimed
    if (run.leaseOwner === null) throw new Error(`R5: run ${run.id} is not claimed`)
    this.run = run
    this.generation = run.leaseGeneration
    this.#deps = deps
    this.#claimed = claimed
    const claim = {
      runId: run.id,
      generation: run.leaseGeneration,
      token: run.leaseOwner,
      parentRunId: run.parentRunId,
      leaderEpoch: run.leaderEpoch,
    }
    this.owner = new Owner(deps, claim, lease, this)
    // The cancel came while the last owner gave the run back.
    if (run.cancelRequestedAt !== null) this.cancelRequested()
    this.heartbeat = new Heartbeat(deps, this, lease, answered.mono)
  }

  /** 1 for the first execution; one more for each that failed. */
  get attempt(): number {
    return this.run.attempts + 1
  }

  leaseLost(why: string): void {
    this.interrupt('lease_lost', `the lease of run ${this.run.id} is lost: ${why}; its next worker goes on from the last recorded step`)
  }

  cancelRequested(): void {
    this.interrupt('cancel_requested', `run ${this.run.id} was asked to stop`)
  }

  get effects(): UnrecordedEffects {
    this.#effects ??= new UnrecordedEffects(this.run, this.owner)
    return this.#effects
  }

  get parking(): Parking {
    this.#parking ??= new Parking({
      run: this.run,
      env: this.#deps.env,
      claimedAt: this.clock.claimedAt,
      settled: () => this.#inFlight.settled(),
      isQuiet: () => this.#inFlight.isEmpty,
      onParked: () => this.#parked(),
    })
    return this.#parking
  }

  /** The waits that stay valid when the job is called again without having been parked. */
  get remainingWaits(): string {
    return this.#parking === null && this.run.waitingFor === null ? NO_WAITS : this.parking.remaining
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController()
      if (this.interrupted) this.#abort.abort(this.interrupted)
    }
    return this.#abort.signal
  }

  interrupt(code: Interruption, message: string): void {
    // A shutdown must not hide that the time is over, and a failed job must not hide that the lease is lost.
    if (this.interrupted && this.interrupted.code !== REPLACES[code]) return
    this.interrupted = new DurablyError(code, message)
    this.#interruptedAt = this.#deps.env.mono()
    this.#abort?.abort(this.interrupted)
    // A run that is parked or given back stores what it waits for, so its waits stay.
    if (code !== 'parked' && code !== 'shutdown') this.#parking?.refuse(this.interrupted)
  }

  /** Calls back when the job function need not be waited for any more. */
  whenNotAwaited(listener: (outcome: NotAwaited) => void): void {
    this.#jobWait.onStopped(listener)
  }

  #stopWaitingNow(why: NotAwaited['notAwaited']): void {
    this.undo?.(this.interrupted)
    this.#jobWait.stop(why)
  }

  /** Before the process ends: functions that ignore their signal end with it, so the run is not held for them. */
  stopWaiting(): void {
    this.willStopWaiting = true
    this.#stopWaitingNow('ignores its signal')
  }

  #stopWaitingSoon(code: Interruption, message: string): void {
    if (this.willStopWaiting) return
    this.willStopWaiting = true
    this.interrupt(code, message)
    this.#deps.env.timer(IGNORED_ABORT_MS, () => this.#stopWaitingNow('ignores its signal'))
  }

  /** The job waits for something that does not come in this execution, so it is not awaited any more, even if there was an earlier reason to stop. */
  #parked(): void {
    if (this.#closed) return
    this.interrupt('parked', `run ${this.run.id} goes on later`)
    this.#stopWaitingNow('parked')
  }

  /** The store's clock, as far as this execution knows it. */
  get clock(): RunClock {
    this.#clock ??= new RunClock(this.#deps, this.#claimed, this.owner)
    return this.#clock
  }

  /** The job function has ended: the limits are checked a last time, then they no longer apply. */
  async stopTime(limits: TimeLimits): Promise<void> {
    // The store may have to be asked for the time: what the job left waiting must not park the run meanwhile.
    this.#closed = true
    limits.stop()
    await limits.check()
    this.limits = null
  }

  /** Functions that were asked to stop before, and did not, are not waited for either. */
  outOfTime(why: string): void {
    this.#stopWaitingSoon('timeout', `run ${this.run.id} is out of time: ${why}`)
  }

  onHeartbeat(): void {
    this.#reportIfStuck()
    void this.limits?.check()
  }

  /** Called first by every call of `ctx` that does work: throws also if the job function has ended. */
  throwIfClosed(expired: AbortSignal | undefined): void {
    this.throwIfInterrupted(expired)
    if (this.#closed)
      throw new DurablyError('context_closed', `run ${this.run.id}: the job function has already ended; await every call of ctx`)
  }

  /**
   * Throws if the execution must stop, or `expired` has aborted. A call that has begun may outlive the job function (X2), but not
   * the time of a step that it is nested in.
   */
  throwIfInterrupted(expired?: AbortSignal): void {
    expired?.throwIfAborted()
    if (!this.interrupted) return
    this.hasRejectedCall = true
    throw this.interrupted
  }

  /** Before a function of the user starts: renews a lease that is nearly over, or may be, so that nothing starts without one. */
  assureLease(): Promise<void> | undefined {
    const looked = this.limits?.check()
    if (looked || (!this.interrupted && this.#isNearlyOver())) return this.#renewLease(looked)
    this.throwIfInterrupted()
  }

  async #renewLease(looked: Promise<void> | undefined): Promise<void> {
    await looked
    while (!this.interrupted && this.#isNearlyOver()) await this.owner.write({ type: 'heartbeat' })
    await this.limits?.check()
    this.throwIfInterrupted()
  }

  #isNearlyOver(): boolean {
    const { lease } = this.#claimed
    return lease.isUnknown || lease.ms() >= this.#deps.leaseMs - this.#deps.heartbeatMs
  }

  track<T>(name: string, step: Promise<T>): Promise<T> {
    return this.#inFlight.track(name, step)
  }

  /** The job function has ended: no step may start any more, the ones in flight are awaited (X2). */
  close(hasThrown: boolean): Promise<unknown> | undefined {
    this.#closed = true
    if (this.#inFlight.isEmpty) return undefined
    if (hasThrown && !this.interrupted) this.#stopWaitingSoon('job_failed', `the job of run ${this.run.id} threw`)
    if (!this.willStopWaiting) return this.#inFlight.settled()
    // A step that ignores its signal is not waited for; its record will be refused.
    return Promise.race([this.#inFlight.settled(), new Promise((resolve) => this.whenNotAwaited(() => resolve(this.finishing)))])
  }

  /** Reports once an execution that holds its slot for longer than a lease and may never end by itself. */
  #reportIfStuck(): void {
    const { env, leaseMs, report } = this.#deps
    const since = Math.min(this.#interruptedAt, this.#parking?.askedAt ?? this.#interruptedAt)
    if (this.isStuck || env.mono() - since < leaseMs) return
    this.isStuck = true
    const { run, interrupted } = this
    const stuck = { run, interrupted, waitsFor: this.#parking?.asked, steps: this.#inFlight.names }
    Promise.resolve(limitCode(env)).then(({ stuckError }) => report(stuckError(stuck), run.id), report)
  }

  setProgress(progress: Progress, encoded: string | null): void {
    this.#progress = progress
    this.owner.attachments.progress = encoded
    this.heartbeat.carrySoon()
  }

  /** A write is about to take everything that is attached. Only the last progress before it becomes an event. */
  beforeWrite(): void {
    const progress = this.#progress
    this.#progress = null
    if (progress) this.emitAndAttach('run:progress', { generation: this.generation, progress })
    this.heartbeat.carried()
  }

  /** Emits an event at once, and attaches it to the next write. */
  emitAndAttach(type: EventType, payload: LeasedPayload): void {
    this.attach(type, payload)
    this.#deps.runEvents.emit(type, () => ({ run: this.run, payload }))
  }

  /** Attaches an event to the next write. */
  attach(type: EventType, payload: LeasedPayload): void {
    this.owner.attachments.addEvent({ type, payload, createdAt: iso(this.#deps.env.wall()) })
  }

  accepted({ verb, claim }: OwnerWrite): void {
    if (verb.type === 'heartbeat') return
    this.#deps.runEvents.emit(ownEventType(verb), () => ({
      run: verb.type === 'complete' ? this.#completed(verb.output) : this.run,
      payload: ownPayload(verb, claim),
      step: verb.type === 'recordStep' ? verb.step : undefined,
    }))
  }

  /** The run as its row is now. Both ends of its duration are times of the store's clock; the end is estimated, so that the store need not be asked. */
  #completed(output: string | null): EventRun {
    const { id, jobName, startedAt } = this.run
    return { id, jobName, output, startedAt, finishedAt: Math.round(this.clock.time.earliest()) }
  }
}
