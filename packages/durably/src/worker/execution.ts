// Execution — one claimed run in this process: its lease, its signal, and whether it may go on.
//   X1. The first reason to stop poisons it: later calls of `ctx` reject, what the job returns is ignored.
//   X2. Nothing ends while a step is in flight: two executions of one step must not overlap. Only a step that ignores its
//       signal is left behind, when the time is over or the job has thrown.
//   X3. Where our clocks differ the store is asked what time it is: a sleep or a delay that begins now is neither over too soon nor
//       hours late, and a deadline is neither missed nor brought forward (store-time.ts).
//       A timer does not fire while the machine sleeps: deadlines are looked at before every function, too.
// What most executions never use is made when it is first asked for: the signal, streams, effects, waits.
import type { EventRun } from '../events/run-event.ts'
import type { RunEvents } from '../events/run-events.ts'
import { iso } from '../model/env.ts'
import { DurablyError, type ErrorCode } from '../model/errors.ts'
import type { EventType, RecordedPayload } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { RunRow } from '../model/run.ts'
import { encodeWaits } from '../model/wait.ts'
import { ownEventType, ownPayload } from '../store/owner-events.ts'
import type { OwnerWrite } from '../store/owner-write.ts'
import { Heartbeat } from './lease/heartbeat.ts'
import type { HeartbeatTimer } from './lease/heartbeat-timer.ts'
import type { LeaseAge, Moment } from './lease/lease-age.ts'
import { Owner, type OwnerDeps } from './lease/owner.ts'
import { StoreTime } from './lease/store-time.ts'
import { untilLeaseIsOver } from './lease/until-lease-is-over.ts'
import { Parking } from './steps/parking.ts'
import { UnrecordedEffects } from './steps/unrecorded-effects.ts'
import { UnrecordedStreams } from './steps/unrecorded-streams.ts'
import { TimeLimits } from './time-limit.ts'

/** Where no step was ever in flight; a set of its own costs more than a small task. */
const NO_STEPS = new Map<string, never>()

const NO_WAITS = encodeWaits([])

/** How long functions have to notice that they are not waited for any longer. */
const IGNORED_ABORT_MS = 500

/** A run that this process has claimed. */
export interface Claimed {
  run: RunRow
  lease: LeaseAge
  /** When the claim was answered. */
  answered: Moment
}

/** The same for all runs of a worker. */
export interface ExecutionDeps extends OwnerDeps {
  runEvents: RunEvents
  heartbeatTimer: HeartbeatTimer
  heartbeatMs: number
}

/** `parked`: it waits for what does not come in this execution. `left behind`: it was told to stop, and goes on. */
export type Dismissal = 'parked' | 'left behind'

/** Why the job function is not waited for any more. */
export interface Dismissed {
  readonly dismissed: Dismissal
}

/** Why an execution must stop. */
type Interruption = ErrorCode & ('cancel_requested' | 'lease_lost' | 'shutdown' | 'timeout' | 'parked' | 'job_failed')

/** Which later reason replaces which earlier one. */
const REPLACES: { [code in Interruption]?: Interruption } = { timeout: 'shutdown', lease_lost: 'job_failed' }

export class Execution {
  readonly run: RunRow
  readonly generation: number
  readonly owner: Owner
  readonly heartbeat: Heartbeat
  #streams: UnrecordedStreams | null = null
  #effects: UnrecordedEffects | null = null
  #parking: Parking | null = null
  #dismissal: Dismissed | null = null
  #onDismissed: ((outcome: Dismissed) => void)[] | null = null
  /** It waits no longer for functions that ignore their signal. */
  isLeaving = false
  /** Of the open transaction; its owner has one at a time. */
  undo: ((why: unknown) => void) | null = null
  readonly #deps: ExecutionDeps
  readonly #lease: LeaseAge
  #abort: AbortController | null = null
  /** Why it must stop; `null` while it may go on. */
  interrupted: DurablyError | null = null
  /** By the names of the steps. */
  #inFlight: Map<string, Promise<unknown>> = NO_STEPS
  /** Since when it should have stopped. */
  #toldAt = Number.POSITIVE_INFINITY
  #isStuck = false
  /** By the store's clock. */
  readonly #claimedAt: number
  readonly #claimSent: Moment
  readonly #claimAnswered: Moment
  #time: StoreTime | null = null
  /** Null while it has no limits. */
  limits: TimeLimits | null = null
  #closed = false
  /** A call of `ctx` was turned away, so the job's result cannot be trusted. */
  turnedAway = false

  constructor(deps: ExecutionDeps, { run, lease, answered }: Claimed) {
    if (run.leaseOwner === null) throw new Error(`R5: run ${run.id} is not claimed`)
    this.run = run
    this.generation = run.leaseGeneration
    this.#deps = deps
    this.#lease = lease
    const claim = { runId: run.id, generation: run.leaseGeneration, token: run.leaseOwner, parentRunId: run.parentRunId }
    this.owner = new Owner(deps, claim, lease, this)
    this.#claimedAt = (run.leaseExpiresAt ?? 0) - deps.leaseMs
    this.#claimAnswered = answered
    this.#claimSent = lease.renewedAt
    // While its last owner gave it back.
    if (run.cancelRequestedAt !== null) this.cancelRequested()
    this.heartbeat = new Heartbeat(deps, this, lease, answered.mono)
  }

  /** 1 for the first execution; one more for each that failed. */
  get attempt(): number {
    return this.run.attempts + 1
  }

  leaseLost(why: string): void {
    this.interrupt(
      'lease_lost',
      `the lease of run ${this.run.id} is lost: ${why}; whoever claims the run goes on from its last recorded step`,
    )
  }

  cancelRequested(): void {
    this.interrupt('cancel_requested', `run ${this.run.id} was asked to stop`)
  }

  get streams(): UnrecordedStreams {
    this.#streams ??= new UnrecordedStreams(this.run, this.owner)
    return this.#streams
  }

  get effects(): UnrecordedEffects {
    this.#effects ??= new UnrecordedEffects(this.run, this.owner)
    return this.#effects
  }

  get parking(): Parking {
    this.#parking ??= new Parking({
      run: this.run,
      env: this.#deps.env,
      claimedAt: this.#claimedAt,
      settled: () => this.#settled(),
      isQuiet: () => this.#inFlight.size === 0,
      onParked: () => this.#parked(),
    })
    return this.#parking
  }

  /** What stays true when the job is called anew without having been parked. */
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
    // Who gives a run back must not hide that its time is over, and who ends it not that it is somebody else's by now.
    if (this.interrupted && this.interrupted.code !== REPLACES[code]) return
    this.interrupted = new DurablyError(code, message)
    this.#toldAt = this.#deps.env.mono()
    this.#abort?.abort(this.interrupted)
    // Who gives a run back writes down what it waits for.
    if (code !== 'parked' && code !== 'shutdown') this.#parking?.refuse(this.interrupted)
  }

  /** Called when the job function need not be waited for any more. */
  whenDismissed(tell: (outcome: Dismissed) => void): void {
    if (this.#dismissal) tell(this.#dismissal)
    else if (this.#onDismissed) this.#onDismissed.push(tell)
    else this.#onDismissed = [tell]
  }

  #dismiss(why: Dismissal): void {
    this.#dismissal ??= { dismissed: why }
    this.undo?.(this.interrupted)
    for (const tell of this.#onDismissed?.splice(0) ?? []) tell(this.#dismissal)
  }

  #leave(code: Interruption, message: string): void {
    if (this.isLeaving) return
    this.isLeaving = true
    this.interrupt(code, message)
    this.#deps.env.timer(IGNORED_ABORT_MS, () => this.#dismiss('left behind'))
  }

  /** Also when there is another reason to stop: the job waits for what does not come in this execution. */
  #parked(): void {
    if (this.#closed) return
    this.interrupt('parked', `run ${this.run.id} goes on later`)
    this.#dismiss('parked')
  }

  /** The store's, as the answer to the claim told it, or what was asked since. */
  get time(): StoreTime {
    this.#time ??= new StoreTime(this.#deps.env, this.#claimedAt, this.#claimSent, this.#claimAnswered)
    return this.#time
  }

  /** From now on it has to end in time. */
  limitTime(job: Job): void {
    if (job.timeout === undefined && this.run.deadlineAt === null) return
    this.limits = new TimeLimits(this.#deps.env, this, job)
    this.limits.watch()
  }

  /** The job function has ended: its time may have run out unseen, but does so no more. */
  async stopTime(limits: TimeLimits): Promise<void> {
    limits.stop()
    await limits.look()
    this.limits = null
  }

  /** Whoever was asked to stop before, and did not, is not waited for either. */
  outOfTime(why: string): void {
    this.#leave('timeout', `run ${this.run.id} is out of time: ${why}`)
  }

  /** What counts from now counts from here: never early, and not late by what a clock was adjusted. */
  async storeNow(): Promise<number> {
    while (!this.time.isKnown && !this.owner.lost) await this.askForTime()
    return this.time.latest()
  }

  /** Every accepted write leaves the store's time in the row. */
  async askForTime(): Promise<void> {
    const { store, env, leaseMs, report } = this.#deps
    const { id } = this.run
    try {
      if (!(await this.owner.write({ type: 'heartbeat' }))) return
      const sent = this.#lease.renewedAt
      const row = await untilLeaseIsOver(this.#deps, () => store.runs.get(id))
      if (row?.leaseGeneration === this.generation && row.leaseExpiresAt !== null) {
        this.#time = new StoreTime(env, row.leaseExpiresAt - leaseMs, sent, this.#lease.now())
        return
      }
    } catch (error) {
      report(error, id)
    }
    this.owner.loseToSilence()
  }

  beaten(): void {
    this.#tellIfStuck()
    void this.limits?.look()
  }

  /** Every call of `ctx` that does work passes here. */
  admit(late: AbortSignal | undefined): void {
    this.goOn(late)
    if (this.#closed)
      throw new DurablyError('context_closed', `run ${this.run.id}: the job function has already ended; await every call of ctx`)
  }

  /**
   * A call that was admitted passes here before its next move; it may outlive the job function (X2), but not the time of a
   * step that it is nested in.
   */
  goOn(late?: AbortSignal): void {
    late?.throwIfAborted()
    if (!this.interrupted) return
    this.turnedAway = true
    throw this.interrupted
  }

  /** Before a function of the user starts: a lease that is nearly over is renewed first, so that nothing starts late. */
  assureLease(): Promise<void> | undefined {
    const looked = this.limits?.look()
    if (looked || (!this.interrupted && this.#isNearlyOver())) return this.#renewLease(looked)
    this.goOn()
  }

  async #renewLease(looked: Promise<void> | undefined): Promise<void> {
    await looked
    while (!this.interrupted && this.#isNearlyOver()) await this.owner.write({ type: 'heartbeat' })
    await this.limits?.look()
    this.goOn()
  }

  #isNearlyOver(): boolean {
    return this.#lease.ms() >= this.#deps.leaseMs - this.#deps.heartbeatMs
  }

  track<T>(name: string, step: Promise<T>): Promise<T> {
    if (this.#inFlight === NO_STEPS) this.#inFlight = new Map()
    this.#inFlight.set(name, step)
    const settle = () => void this.#inFlight.delete(name)
    step.then(settle, settle)
    return step
  }

  /** The job function has ended: no step may start any more, the ones in flight are awaited (X2). */
  close(hasThrown: boolean): Promise<unknown> | undefined {
    this.#closed = true
    if (this.#inFlight.size === 0) return undefined
    if (hasThrown && !this.interrupted) this.#leave('job_failed', `the job of run ${this.run.id} threw`)
    if (!this.isLeaving) return this.#settled()
    // A step that ignores its signal is not waited for, its record will be refused.
    return Promise.race([this.#settled(), new Promise<Dismissed>((resolve) => this.whenDismissed(resolve))])
  }

  /** Told once of what holds a slot for longer than a lease and may never end by itself. */
  #tellIfStuck(): void {
    const { env, leaseMs, report } = this.#deps
    const since = Math.min(this.#toldAt, this.#parking?.askedAt ?? this.#toldAt)
    if (this.#isStuck || env.mono() - since < leaseMs) return
    this.#isStuck = true
    const { id, jobName } = this.run
    const [wish, advice] = this.interrupted
      ? [`was asked to stop (${this.interrupted.code})`, 'let them heed their signal']
      : [`waits for ${this.#parking?.asked}`, 'do not await it inside of a step']
    const steps = JSON.stringify([...this.#inFlight.keys()])
    report(new DurablyError('run_stuck', `run ${id} of job ${JSON.stringify(jobName)} ${wish}, but steps ${steps} go on; ${advice}`), id)
  }

  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight.values())
  }

  /** An event that goes with the next write, and that listeners need not wait for. */
  record(type: EventType, facts: RecordedPayload): void {
    this.attach(type, facts)
    this.#deps.runEvents.emit(this.run, type, facts)
  }

  /** An event that goes with the next write. */
  attach(type: EventType, facts: RecordedPayload): void {
    const payload = { generation: this.generation, ...facts }
    this.owner.attachEvent({ type, payload, createdAt: iso(this.#deps.env.wall()) })
  }

  accepted({ verb, claim }: OwnerWrite): void {
    if (verb.type === 'heartbeat') return
    const step = verb.type === 'recordStep' ? verb.step : undefined
    this.#deps.runEvents.emit(
      verb.type === 'complete' ? this.#completed(verb.output) : this.run,
      ownEventType(verb),
      ownPayload(verb, claim),
      step,
    )
  }

  /** As its row is now. Both ends of its time are the store's. */
  #completed(output: string | null): EventRun {
    const { id, jobName, startedAt } = this.run
    return { id, jobName, output, startedAt, finishedAt: Math.round(this.time.earliest()) }
  }
}
