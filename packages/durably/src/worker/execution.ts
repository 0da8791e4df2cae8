// Execution — one claimed run in this process: its lease, its signal, and whether it may go on.
//   X1. The first reason to stop poisons it: later calls of `ctx` reject, what the job returns is ignored.
//   X2. Nothing ends while a step is in flight: two executions of one step must not overlap. Only a step that is out of
//       time and ignores its signal is left behind.
import type { Env } from '../model/env.ts'
import { iso } from '../model/env.ts'
import { DurablyError, type ErrorCode } from '../model/errors.ts'
import type { RecordedEvent, RecordedPayload } from '../model/event.ts'
import type { RunRow } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import type { CommitQueue } from './commit-queue.ts'
import { Heartbeat } from './heartbeat.ts'
import type { LeaseAge } from './lease-age.ts'
import { OpenEffects } from './open-effects.ts'
import { OpenStreams } from './open-streams.ts'
import { Owner } from './owner.ts'
import { Parking } from './parking.ts'
import type { TurnBudget } from './turn-budget.ts'

/** How long functions have to notice that their time is over. */
const IGNORED_ABORT_MS = 500

export interface ExecutionParts {
  commits: CommitQueue
  store: Store
  env: Env
  turn: TurnBudget
  run: RunRow
  lease: LeaseAge
  leaseMs: number
  heartbeatMs: number
  report: (error: unknown) => void
}

/** `parked`: it waits for what does not come in this execution. `out of time`: it was told so, and goes on. */
export type Dismissal = 'parked' | 'out of time'

export class Execution {
  readonly run: RunRow
  readonly generation: number
  readonly owner: Owner
  readonly heartbeat: Heartbeat
  readonly streams: OpenStreams
  readonly effects: OpenEffects
  readonly parking: Parking
  /** Resolves when the job function need not be waited for any more. */
  readonly dismissed: Promise<Dismissal>
  #dismiss: (why: Dismissal) => void = () => {}
  #isOutOfTime = false
  readonly #env: Env
  readonly #lease: LeaseAge
  readonly #leaseMs: number
  readonly #heartbeatMs: number
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #claimedAt: number
  readonly #claimSent: number
  readonly #claimAnswered: number
  #closed = false
  /** A call of `ctx` was turned away, so the job's result cannot be trusted. */
  turnedAway = false

  constructor({ commits, store, env, turn, run, lease, leaseMs, heartbeatMs, report }: ExecutionParts) {
    if (run.leaseOwner === null) throw new Error(`R5: run ${run.id} is not claimed`)
    this.run = run
    this.generation = run.leaseGeneration
    this.#env = env
    this.#lease = lease
    this.#leaseMs = leaseMs
    this.#heartbeatMs = heartbeatMs
    this.owner = new Owner({
      commits,
      store,
      env,
      turn,
      lease,
      leaseMs,
      report,
      claim: { runId: run.id, generation: run.leaseGeneration, token: run.leaseOwner, parentRunId: run.parentRunId },
      onLost: (why) => this.interrupt('lease_lost', `the lease of run ${run.id} is lost: ${why}`),
      onCancelRequested: () => this.interrupt('cancel_requested', `run ${run.id} was asked to stop`),
    })
    this.streams = new OpenStreams(run, this.owner)
    this.effects = new OpenEffects(run, this.owner)
    this.#claimedAt = (run.leaseExpiresAt ?? 0) - leaseMs
    this.#claimAnswered = env.mono()
    this.#claimSent = this.#claimAnswered - lease.ms()
    this.dismissed = new Promise((resolve) => {
      this.#dismiss = resolve
    })
    this.parking = new Parking({
      run,
      env,
      claimedAt: this.#claimedAt,
      settled: () => this.#settled(),
      isQuiet: () => this.#inFlight.size === 0,
      onParked: () => this.#parked(),
    })
    // Asked to stop while its last owner gave it back.
    if (run.cancelRequestedAt !== null) this.interrupt('cancel_requested', `run ${run.id} was asked to stop`)
    this.heartbeat = new Heartbeat({ env, owner: this.owner, lease, leaseMs, intervalMs: heartbeatMs })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Why it must stop; `null` while it may go on. */
  get interrupted(): DurablyError | null {
    return this.signal.aborted ? (this.signal.reason as DurablyError) : null
  }

  interrupt(code: ErrorCode & ('cancel_requested' | 'lease_lost' | 'shutdown' | 'timeout' | 'parked'), message: string): void {
    if (this.signal.aborted) return
    this.#abort.abort(new DurablyError(code, message))
  }

  /** Whoever was asked to stop before, and did not, is not waited for either. */
  timeOut(message: string): void {
    this.#isOutOfTime = true
    this.interrupt('timeout', message)
    this.#env.timer(IGNORED_ABORT_MS, () => this.#dismiss('out of time'))
  }

  /** Also when there is another reason to stop: the job waits for what does not come in this execution. */
  #parked(): void {
    if (this.#closed) return
    this.interrupt('parked', `run ${this.run.id} goes on later`)
    this.#dismiss('parked')
  }

  /** By the store's clock, and never early: what is counted from it is not over too soon. */
  storeNow(): number {
    return this.#claimedAt + this.#env.mono() - this.#claimSent
  }

  /** By the store's clock, and never late: what is over by it is over, however long the answer to the claim took. */
  storeNowAtLeast(): number {
    return this.#claimedAt + this.#env.mono() - this.#claimAnswered
  }

  /** Every call of `ctx` that does work passes here. */
  admit(): void {
    this.goOn()
    if (this.#closed)
      throw new DurablyError('context_closed', `run ${this.run.id}: the job function has already ended; await every ctx.run()`)
  }

  /** A call that was admitted passes here before its next move; it may outlive the job function (X2). */
  goOn(): void {
    if (!this.interrupted) return
    this.turnedAway = true
    throw this.interrupted
  }

  /** Before a function of the user starts: a lease that is nearly over is renewed first, so that nothing starts late. */
  async assureLease(): Promise<void> {
    while (!this.interrupted && this.#lease.ms() >= this.#leaseMs - this.#heartbeatMs) await this.owner.write({ type: 'heartbeat' })
    this.goOn()
  }

  track<T>(step: Promise<T>): Promise<T> {
    this.#inFlight.add(step)
    const settle = () => void this.#inFlight.delete(step)
    step.then(settle, settle)
    return step
  }

  /** The job function has ended: no step may start any more, the ones in flight are awaited (X2). */
  async close(): Promise<void> {
    this.#closed = true
    if (!this.#isOutOfTime) return this.#settled()
    // Out of time: a step that ignores its signal is not waited for, its record will be refused.
    await Promise.race([this.#settled(), this.dismissed])
  }

  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  recorded(type: RecordedEvent['type'], facts: RecordedPayload): RecordedEvent {
    return { type, payload: { generation: this.generation, ...facts }, createdAt: iso(this.#env.wall()) }
  }
}
