// Execution — one claimed run in this process: its lease, its signal, and whether it may go on.
//   X1. The first reason to stop poisons it: later calls of `ctx` reject, what the job returns is ignored.
//   X2. Nothing ends while a step is in flight: two executions of one step must not overlap.
import type { Env } from '../model/env.ts'
import { iso } from '../model/env.ts'
import { DurablyError, type ErrorCode } from '../model/errors.ts'
import type { RecordedEvent, RecordedPayload } from '../model/event.ts'
import type { RunRow } from '../model/run.ts'
import type { RunStore } from '../store/runs.ts'
import { Heartbeat } from './heartbeat.ts'
import { Owner } from './owner.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface ExecutionParts {
  runs: RunStore
  env: Env
  turn: TurnBudget
  run: RunRow
  leaseMs: number
  heartbeatMs: number
  report: (error: unknown) => void
}

export class Execution {
  readonly run: RunRow
  readonly generation: number
  readonly owner: Owner
  readonly heartbeat: Heartbeat
  readonly #env: Env
  readonly #leaseMs: number
  readonly #heartbeatMs: number
  readonly #abort = new AbortController()
  readonly #inFlight = new Set<Promise<unknown>>()
  #closed = false
  /** A call of `ctx` was turned away, so the job's result cannot be trusted. */
  turnedAway = false

  constructor({ runs, env, turn, run, leaseMs, heartbeatMs, report }: ExecutionParts) {
    if (run.leaseOwner === null) throw new Error(`R5: run ${run.id} is not claimed`)
    this.run = run
    this.generation = run.leaseGeneration
    this.#env = env
    this.#leaseMs = leaseMs
    this.#heartbeatMs = heartbeatMs
    this.owner = new Owner({
      runs,
      env,
      turn,
      leaseMs,
      report,
      claim: { runId: run.id, generation: run.leaseGeneration, token: run.leaseOwner },
      onLost: (why) => this.interrupt('lease_lost', `the lease of run ${run.id} is lost: ${why}`),
      onCancelRequested: () => this.interrupt('cancel_requested', `run ${run.id} was asked to stop`),
    })
    this.heartbeat = new Heartbeat({ env, owner: this.owner, leaseMs, intervalMs: heartbeatMs })
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
    if (this.interrupted) {
      this.turnedAway = true
      throw this.interrupted
    }
    if (this.#closed)
      throw new DurablyError('context_closed', `run ${this.run.id}: the job function has already ended; await every ctx.run()`)
  }

  /** Before a step starts: a lease that is nearly over is renewed first, so that a pause does not start a step twice. */
  async assureLease(): Promise<void> {
    if (this.owner.age() >= this.#leaseMs - this.#heartbeatMs) await this.owner.write({ type: 'heartbeat' })
    this.admit()
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

  get closed(): boolean {
    return this.#closed
  }

  recorded(type: RecordedEvent['type'], facts: RecordedPayload): RecordedEvent {
    return { type, payload: { generation: this.generation, ...facts }, createdAt: iso(this.#env.wall()) }
  }
}
