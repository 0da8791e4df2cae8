// Owner — makes the writes of one lease: their order, what is attached to them, and when the lease is lost.
// The verb of a write says what it does, for example `recordStep` (store/owner-write.ts).
//   O1. Each write has a number. They are sent one at a time, in the order asked: a number that is not above the last accepted one means
//       to the store that it has this write already (W2).
//   O2. A write whose outcome is unknown is sent again, unchanged (R3, R6), until it is answered, or the lease and the time `confirmFor` after
//       it are over.
//   O3. After a refusal nothing more is sent: the run has another owner (R1). Nor is anything sent after the write that ended the lease. It
//       would be refused, and look as if another worker had taken the run over. Such late writes come from a step that ignored its signal,
//       or from a heartbeat that had to wait.
//   O4. `write` throws what its `attach` throws, before anything is sent, and otherwise only `store_rejected`: its own data cannot be
//       stored, so sending it again would not help. If what cannot be stored is telemetry that waited for the next write (log lines,
//       progress and chunks, attachments.ts), it is dropped instead.
import { backoffMs } from '../../model/backoff.ts'
import { type Env, sleep } from '../../model/env.ts'
import { DurablyError, hasCode, isBroken } from '../../model/errors.ts'
import type { Moment } from '../../model/moment.ts'
import type { TurnBudget } from '../../model/turn-budget.ts'
import { type Claim, endsLease, type OwnerVerb, type OwnerWrite, type WriteOutcome } from '../../store/owner-write.ts'
import type { Store } from '../../store/store.ts'
import { type Attached, Attachments, hasTelemetry, joined, withoutTelemetry } from './attachments.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { LeaseAge } from './lease-age.ts'

/** The same for all runs of a worker. */
export interface OwnerDeps {
  commits: CommitQueue
  store: Store
  env: Env
  /** How long the worker may keep the event loop, before timers and I/O get their turn. */
  turn: TurnBudget
  /** The option `staleThreshold`. */
  leaseMs: number
  /** The option `confirmFor`: how long an owner may be silent after the end of its lease. */
  confirmMs: number
  report: (error: unknown, runId?: string) => void
}

/** What the owner needs of the execution whose lease it holds. */
interface LeasedExecution {
  /** Why the run must not go on. */
  readonly interrupted: unknown
  /** Called before a write takes what is attached: the last moment to attach something. */
  beforeWrite(): void
  /** The store has accepted the write. */
  accepted(write: OwnerWrite): void
  leaseLost(why: string): void
  cancelRequested(): void
}

type WithoutLease<V> = V extends { leaseMs: number } ? Omit<V, 'leaseMs'> : V
/** The verb of a write as its caller gives it. The owner adds the length of the lease. */
export type Writing = WithoutLease<OwnerVerb>

/** Called when it is the turn of a write: attaches what is stored with it, and returns a function that takes that back if the store rejects it. */
export type Attach = () => (() => void) | undefined

/** What a transaction of the user can do: while it has this, no other write of the lease is sent. */
export interface ExclusiveWriter {
  readonly execution: LeasedExecution
  now(): Moment
  /** The write, with everything that is attached. If `leavesTelemetry`, telemetry stays attached for the write after it. */
  assemble(verb: Writing, leavesTelemetry: boolean): OwnerWrite
  /** Sends a write until its outcome is known; false when the lease is lost. */
  send(verb: Writing): Promise<boolean>
  /** Takes note of the answer to a write that was sent at `sent`; false when it was refused. */
  settle(write: OwnerWrite, outcome: WriteOutcome, sent: Moment): boolean
  report(error: unknown): void
}

export class Owner {
  readonly #deps: OwnerDeps
  readonly claim: Claim
  /** What goes with the next write. */
  readonly attachments = new Attachments()
  readonly #lease: LeaseAge
  readonly #execution: LeasedExecution
  #isWriting = false
  /** Writes that wait until the current one has ended. */
  #waiting: (() => void)[] = []
  /** Transactions that have not ended: they run or wait for earlier writes. */
  #transactions = 0
  #number = 0
  /** Answers the write that is under way. With `lost` it does not wait any longer for an answer of the store, which may never come. */
  #answer: ((answer: WriteOutcome | 'lost') => void) | null = null
  /** The lease is lost, or the write that ends it was accepted: nothing more is sent (O3). */
  isOver = false
  /** Another worker has the run, or may have it. */
  mayBeTaken = false
  /** The ending is being written; nothing can be attached any more. */
  sealed = false
  #hasDropped = false

  constructor(deps: OwnerDeps, claim: Claim, lease: LeaseAge, execution: LeasedExecution) {
    this.#deps = deps
    this.claim = claim
    this.#lease = lease
    this.#execution = execution
  }

  /**
   * True when accepted; false when the lease is over. `attach` is called when the earlier writes have ended, so what it attaches goes with
   * this write and not with one of them. If the store rejects the data, the function that it returned detaches it before the next write
   * starts, because that one would store what never happened.
   */
  write(verb: Writing, attach?: Attach): Promise<boolean> {
    if (this.#isWriting) return this.#untilFree().then(() => this.#send(verb, attach))
    this.#isWriting = true
    return this.#send(verb, attach)
  }

  /** Runs a transaction of the user when the earlier writes have ended; later ones wait until it has ended. */
  async transact<T>(work: (writer: ExclusiveWriter) => Promise<T>): Promise<T> {
    this.#transactions++
    if (this.#isWriting) await this.#untilFree()
    this.#isWriting = true
    try {
      return await work({
        execution: this.#execution,
        now: () => this.#lease.now(),
        assemble: (verb, leavesTelemetry) => {
          if (leavesTelemetry) return this.#assemble(verb, this.attachments.takeWithoutTelemetry())
          this.#execution.beforeWrite()
          return this.#assemble(verb, this.attachments.take())
        },
        send: (verb) => this.#send(verb, undefined, true),
        settle: (...answer) => this.#settle(...answer),
        report: (error) => this.#report(error),
      })
    } finally {
      this.#transactions--
      this.#startNext()
    }
  }

  /** A write that is asked for now waits until the user's transaction has ended: on SQLite it could not even begin before. */
  get isTransacting(): boolean {
    return this.#transactions > 0
  }

  /** O1. */
  #untilFree(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Starts the next write directly, so that no other can overtake it. */
  #startNext(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#isWriting = false
  }

  /**
   * Another worker has the run, or may have it. If both clocks of this process, wall and monotonic, say that the lease had not expired, the clock of whoever took the
   * run was wrong. The store is told so (`wasAlive`), and this take-over does not count towards `maxRecoveries`. If `mayHaveEnded`, the store is
   * told nothing: a write of this owner may have ended the lease, and only its answer was lost.
   */
  loseToAnother(why: string, mayHaveEnded = false): void {
    const { store } = this.#deps
    this.mayBeTaken = true
    if (!this.isOver && !mayHaveEnded && this.#lease.ms() < this.#holdMs)
      store.runs.wasAlive(this.claim).catch((error) => this.#report(error))
    this.lose(why)
  }

  /** Nothing was accepted for a whole lease and `confirmFor`. */
  loseToSilence(): void {
    const { leaseMs, confirmMs } = this.#deps
    const options = confirmMs > 0 ? 'staleThreshold and confirmFor' : 'staleThreshold'
    this.lose(`the store did not answer for a whole lease, ${leaseMs + confirmMs} ms (${options})`)
  }

  /** After so long without an accepted write another worker may have the run. */
  get #holdMs(): number {
    return this.#deps.leaseMs + this.#deps.confirmMs
  }

  lose(why: string): void {
    if (this.isOver) return
    this.isOver = true
    this.#answer?.('lost')
    this.#execution.leaseLost(why)
  }

  #report(error: unknown): void {
    this.#deps.report(error, this.claim.runId)
  }

  /** `isPart`: of a transaction of the user. The next write waits until that has ended. */
  async #send(verb: Writing, attach?: Attach, isPart?: boolean): Promise<boolean> {
    const { env, turn } = this.#deps
    const lease = this.#lease
    try {
      // The lease is renewed as of the first time that the write is sent, because that one may have taken effect.
      let sent = lease.now()
      if (turn.isUsedUp(sent.mono)) {
        await turn.yield()
        sent = lease.now()
      }
      if (this.isOver) return false
      const { gathered, own, detach } = this.#takeAttached(attach)
      let write = this.#assemble(verb, joined(gathered, own))
      let rejection: unknown
      for (let attempt = 1; !this.isOver; attempt++) {
        try {
          const answer = await this.#submit(write)
          if (answer === 'lost' || !this.#settle(write, answer, sent, attempt > 1 && endsLease(write.verb))) return false
          if (rejection) this.#reportDropped(rejection)
          return true
        } catch (error) {
          if (hasCode(error, 'store_rejected')) {
            if (!rejection && hasTelemetry(gathered)) {
              rejection = error
              // Another write, with a number of its own; the one that was rejected has left nothing behind.
              write = this.#assemble(verb, joined(withoutTelemetry(gathered), own))
              attempt = 0
              continue
            }
            detach?.()
            this.attachments.putBack(gathered)
            throw error
          }
          this.#report(error)
          if (hasCode(error, 'store_closed') || isBroken(error)) this.lose('the store cannot be used any more')
          else if (lease.ms() >= this.#holdMs) this.loseToSilence()
          else await sleep(env, backoffMs(env, attempt))
        }
      }
      return false
    } finally {
      if (!isPart) this.#startNext()
    }
  }

  /** What others have attached, and what the write itself attaches. */
  #takeAttached(attach: Attach | undefined): { gathered: Attached; own: Attached; detach: ReturnType<Attach> } {
    const { attachments } = this
    const gathered = attachments.take()
    try {
      const detach = attach?.()
      const own = attachments.take()
      this.#execution.beforeWrite()
      return { gathered: joined(gathered, attachments.take()), own, detach }
    } catch (error) {
      attachments.putBack(gathered)
      throw error
    }
  }

  /** Once: with `withLogPersistence()` the report becomes a log line itself, which may be rejected as well. */
  #reportDropped(cause: unknown): void {
    if (this.#hasDropped) return
    this.#hasDropped = true
    const why = cause instanceof Error ? cause.message : String(cause)
    this.#report(
      new DurablyError(
        'store_rejected',
        `log lines, progress or output of run ${this.claim.runId} could not be stored and were dropped: ${why}`,
        { cause },
      ),
    )
  }

  /** `mayHaveEnded`: the write ends the lease, and an earlier answer to it was lost, so it may have taken effect before. */
  #settle(write: OwnerWrite, outcome: WriteOutcome, sent: Moment, mayHaveEnded = false): boolean {
    if (!outcome.ok) {
      this.loseToAnother('another worker owns the run', mayHaveEnded)
      return false
    }
    this.#lease.renewedAt = sent
    this.#execution.accepted(write)
    if (outcome.cancelRequested) this.#execution.cancelRequested()
    // Last, because listeners of the final event may still use this execution.
    this.isOver ||= endsLease(write.verb)
    return true
  }

  /** Not a race with one long-lived promise: each write of a long run would add a callback to it that is never removed. */
  #submit(write: OwnerWrite): Promise<WriteOutcome | 'lost'> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve
      this.#deps.commits.add({ write, resolve, reject })
    })
  }

  #assemble(writing: Writing, attached: Attached): OwnerWrite {
    const renews = writing.type === 'heartbeat' || writing.type === 'recordStep'
    const verb = (renews ? { leaseMs: this.#deps.leaseMs, ...writing } : writing) as OwnerVerb
    this.sealed ||= !renews
    const { events, logs, progress, streams, effects } = attached
    return { claim: this.claim, number: ++this.#number, verb, events, logs, progress, streams, effects }
  }
}
