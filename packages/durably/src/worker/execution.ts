// Execution — one claimed run in this process: its lease, its signal, and whether it may go on.
//   X1. The first reason to stop poisons it: later calls of `ctx` reject, what the job returns is ignored.
//   X2. Nothing ends while a step is in flight: two executions of one step must not overlap.
import type { Env } from '../model/env.ts'
import { iso } from '../model/env.ts'
import { DurablyError, type ErrorCode } from '../model/errors.ts'
import type { RecordedEvent, RecordedPayload } from '../model/event.ts'
import type { RunRow } from '../model/run.ts'
import type { CommitQueue } from './commit-queue.ts'
import { Heartbeat } from './heartbeat.ts'
import type { LeaseAge } from './lease-age.ts'
import { OpenStreams } from './open-streams.ts'
import { Owner } from './owner.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface ExecutionParts {
  commits: CommitQueue
  env: Env
  turn: TurnBudget
  run: RunRow
  lease: LeaseAge
  leaseMs: number
  heartbeatMs: number
  report: (error: unknown) => void
}

export class Execution {
  readonly run: RunRow
  readonly generation: number
  readonly owner: Owner
  readonly heartbeat: Heartbeat
  readonly streams: OpenStreams
  readonly #env: Env
  readonly #lease: LeaseAge
  readonly #leaseMs: number
  readonly #heartbeatMs: number
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<Promise<unknown>>()
  #closed = false
  /** A call of `ctx` was turned away, so the job's result cannot be trusted. */
  turnedAway = false

  constructor({ commits, env, turn, run, lease, leaseMs, heartbeatMs, report }: ExecutionParts) {
    if (run.leaseOwner === null) throw new Error(`R5: run ${run.id} is not claimed`)
    this.run = run
    this.generation = run.leaseGeneration
    this.#env = env
    this.#lease = lease
    this.#leaseMs = leaseMs
    this.#heartbeatMs = heartbeatMs
    this.owner = new Owner({
      commits,
      env,
      turn,
      lease,
      leaseMs,
      report,
      claim: { runId: run.id, generation: run.leaseGeneration, token: run.leaseOwner },
      onLost: (why) => this.interrupt('lease_lost', `the lease of run ${run.id} is lost: ${why}`),
      onCancelRequested: () => this.interrupt('cancel_requested', `run ${run.id} was asked to stop`),
    })
    this.streams = new OpenStreams(run, this.owner)
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

  interrupt(code: ErrorCode & ('cancel_requested' | 'lease_lost' | 'shutdown'), message: string): void {
    if (!this.signal.aborted) this.#abort.abort(new DurablyError(code, message))
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
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  recorded(type: RecordedEvent['type'], facts: RecordedPayload): RecordedEvent {
    return { type, payload: { generation: this.generation, ...facts }, createdAt: iso(this.#env.wall()) }
  }
}
