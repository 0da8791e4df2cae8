// Owner — makes the writes of one lease: their order, what is attached to them, and when the lease is lost.
//   O1. One write at a time, in the order asked: write numbers must arrive in order (W2).
//   O2. An unknown outcome is sent again, unchanged, until the lease is over (R3, R6).
//   O3. A refusal ends it: the run has another owner, nothing is sent after (R1).
//   O4. Only `store_rejected` is thrown: the data cannot be stored, sending it again would not help.
import { backoffMs } from '../../model/backoff.ts'
import { type Env, sleep } from '../../model/env.ts'
import { DurablyError, hasCode, isBroken, isPassing } from '../../model/errors.ts'
import type { RecordedEvent } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import type { TurnBudget } from '../../model/turn-budget.ts'
import type { Claim, OwnerVerb, OwnerWrite, WriteOutcome } from '../../store/owner-write.ts'
import type { Store } from '../../store/store.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { LeaseAge } from './lease-age.ts'
import { untilLeaseIsOver } from './until-lease-is-over.ts'

/** The same for all runs of a worker. */
export interface OwnerDeps {
  commits: CommitQueue
  store: Store
  env: Env
  turn: TurnBudget
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

/** The execution of the run. */
interface Holder {
  /** Why the run must not go on. */
  readonly interrupted: unknown
  /** The next write takes what is attached; this is the last moment to attach something. */
  beforeWrite(): void
  /** The store has taken the write. */
  accepted(write: OwnerWrite): void
  leaseLost(why: string): void
  cancelRequested(): void
}

type WithoutLease<V> = V extends { leaseMs: number } ? Omit<V, 'leaseMs'> : V
/** The lease's length is the owner's to add. */
export type Writing = WithoutLease<OwnerVerb>

/** Attaches what goes with a write, and returns a function that takes it back. */
export type Attach = () => (() => void) | undefined

type RecordStep = Extract<Writing, { type: 'recordStep' }>
/** `undone`: what `body` threw; nothing was written. */
export type TransactResult = 'recorded' | 'lost' | { undone: unknown }

/** Transactions that conflict again and again are a mistake in the job, so the step fails with the conflict. */
const CONFLICTS_MAX = 10

const NONE: readonly never[] = []

export class Owner {
  readonly #deps: OwnerDeps
  readonly claim: Claim
  readonly #lease: LeaseAge
  readonly #holder: Holder
  #isWriting = false
  /** Writes that wait until the current one has ended. */
  #nextTurns: (() => void)[] = []
  /** Transactions that have not ended: they run or wait for their turn. */
  #transactions = 0
  #number = 0
  #events: RecordedEvent[] | null = null
  #logs: LogRow[] | null = null
  #progress: string | null = null
  #streams: string | null = null
  #effects: string | null = null
  /** Ends the wait for an answer, also for one that may never come. */
  #answer: ((answer: WriteOutcome | 'lost') => void) | null = null
  lost = false
  /** Somebody else has the run. */
  isTaken = false
  /** The ending is being written; nothing can be attached any more. */
  sealed = false

  constructor(deps: OwnerDeps, claim: Claim, lease: LeaseAge, holder: Holder) {
    this.#deps = deps
    this.claim = claim
    this.#lease = lease
    this.#holder = holder
  }

  attachEvent(event: RecordedEvent): void {
    this.#events ??= []
    this.#events.push(event)
  }

  attachLog(line: LogRow): void {
    this.#logs ??= []
    this.#logs.push(line)
  }

  attachProgress(progress: string | null): void {
    this.#progress = progress
  }

  attachEffects(effects: string): void {
    this.#effects = effects
  }

  attachStreams(streams: string): void {
    this.#streams = streams
  }

  /**
   * True when accepted; false when the lease is lost. `attach` is called when its turn has come, so what it attaches goes with this
   * write and not with an earlier one that still waits. If the store rejects the data, the function that it returned is called before
   * the next write has its turn, because that one would store what never happened.
   */
  async write(verb: Writing, attach?: Attach): Promise<boolean> {
    if (this.#isWriting) await this.#turn()
    this.#isWriting = true
    try {
      return await this.#send(verb, attach)
    } finally {
      this.#passTurn()
    }
  }

  /**
   * Records a step in the transaction of `body`. A transaction that lost a conflict was rolled back and runs again (R6). After an unknown
   * outcome a write with a higher number makes sure that the transaction cannot take effect any more; then either the step is stored, or
   * `body` runs again.
   */
  async transact(verbOf: (trx: unknown) => Promise<RecordStep>): Promise<TransactResult> {
    this.#transactions++
    if (this.#isWriting) await this.#turn()
    this.#isWriting = true
    try {
      return await this.#transact(verbOf)
    } finally {
      this.#transactions--
      this.#passTurn()
    }
  }

  /** A write that is asked for now waits until the user's transaction has ended: on SQLite it could not even begin before. */
  get isTransacting(): boolean {
    return this.#transactions > 0
  }

  /** O1. */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#nextTurns.push(resolve))
  }

  /** Hands the turn directly to the next write, so that no other can overtake it. */
  #passTurn(): void {
    const next = this.#nextTurns.shift()
    if (next) next()
    else this.#isWriting = false
  }

  async #transact(verbOf: (trx: unknown) => Promise<RecordStep>): Promise<TransactResult> {
    const { store, env } = this.#deps
    const lease = this.#lease
    if (!store.transact) throw new DurablyError('transaction_unsupported', 'ctx.transaction needs a database; this store has none')
    let conflicts = 0
    for (let attempt = 1; ; attempt++) {
      if (this.lost) return 'lost'
      let sent = lease.now()
      let write: OwnerWrite | undefined
      try {
        const outcome = await store.transact(async (trx) => {
          const verb = await verbOf(trx)
          sent = lease.now()
          write = this.#assemble(verb)
          return write
        })
        if ('undone' in outcome) {
          if (write) this.#attachAgain(write)
          if (!outcome.inConflict || ++conflicts >= CONFLICTS_MAX) return outcome
          this.#report(outcome.undone)
          if (!(await this.#send({ type: 'heartbeat' }))) return 'lost'
          await sleep(env, backoffMs(env, conflicts))
          continue
        }
        if (!outcome.ok) {
          this.takenBack('another worker owns the run')
          return 'lost'
        }
        lease.renewedAt = sent
        if (write) this.#holder.accepted(write)
        if (outcome.cancelRequested) this.#holder.cancelRequested()
        return 'recorded'
      } catch (error) {
        if (!isPassing(error)) throw error
        this.#report(error)
        if (!(await this.#send({ type: 'heartbeat' }))) return 'lost'
        if (write && (await this.#isThere(write))) {
          this.#holder.accepted(write)
          return 'recorded'
        }
        if (write) this.#attachAgain(write)
        if (this.#holder.interrupted) return { undone: error }
        await sleep(env, backoffMs(env, attempt))
      }
    }
  }

  async #isThere({ verb, claim }: OwnerWrite): Promise<boolean> {
    const { store, env, leaseMs } = this.#deps
    if (verb.type !== 'recordStep') return false
    const found = await untilLeaseIsOver({ env, leaseMs, report: (error) => this.#report(error) }, () =>
      store.steps.find(claim.runId, [verb.step.id]),
    )
    if (found === null) this.loseToSilence()
    return found !== null && found.length > 0
  }

  /** What was attached to a write that did not take effect goes with the next one. */
  #attachAgain({ events, logs, progress, streams, effects }: OwnerWrite): void {
    if (events.length > 0) this.#events = [...events, ...(this.#events ?? [])]
    if (logs.length > 0) this.#logs = [...logs, ...(this.#logs ?? [])]
    this.#progress ??= progress
    this.#streams ??= streams
    this.#effects ??= effects
  }

  /**
   * Another worker has the run. If the lease was not over by either clock of this process, the other clock was wrong: the loss does not
   * count as a recovery of the run.
   */
  takenBack(why: string): void {
    const { store, leaseMs } = this.#deps
    this.isTaken = true
    if (!this.lost && this.#lease.ms() < leaseMs) store.runs.wasAlive(this.claim).catch((error) => this.#report(error))
    this.lose(why)
  }

  /** Nothing was accepted for a whole lease. */
  loseToSilence(): void {
    this.lose(`the store did not answer for a whole lease, ${this.#deps.leaseMs} ms (staleThreshold)`)
  }

  lose(why: string): void {
    if (this.lost) return
    this.lost = true
    this.#answer?.('lost')
    this.#holder.leaseLost(why)
  }

  #report(error: unknown): void {
    this.#deps.report(error, this.claim.runId)
  }

  async #send(verb: Writing, attach?: Attach): Promise<boolean> {
    const { env, turn, leaseMs } = this.#deps
    const lease = this.#lease
    // Counted from the first sending: it may be that one which took effect.
    let sent = lease.now()
    if (turn.spent(sent.mono)) {
      await turn.breathe()
      sent = lease.now()
    }
    if (this.lost) return false
    const takeBack = attach?.()
    const write = this.#assemble(verb)
    for (let attempt = 1; !this.lost; attempt++) {
      try {
        const answer = await this.#answered(write)
        if (answer === 'lost') return false
        if (!answer.ok) {
          this.takenBack('another worker owns the run')
          return false
        }
        lease.renewedAt = sent
        this.#holder.accepted(write)
        if (answer.cancelRequested) this.#holder.cancelRequested()
        return true
      } catch (error) {
        if (hasCode(error, 'store_rejected')) {
          takeBack?.()
          throw error
        }
        this.#report(error)
        if (hasCode(error, 'store_closed') || isBroken(error)) this.lose('the store cannot be used any more')
        else if (lease.ms() >= leaseMs) this.loseToSilence()
        else await sleep(env, backoffMs(env, attempt))
      }
    }
    return false
  }

  /** Not a race with one long-lived promise: each write of a long run would leave a reaction on it. */
  #answered(write: OwnerWrite): Promise<WriteOutcome | 'lost'> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve
      this.#deps.commits.add({ write, resolve, reject })
    })
  }

  #assemble(writing: Writing): OwnerWrite {
    this.#holder.beforeWrite()
    const renews = writing.type === 'heartbeat' || writing.type === 'recordStep'
    const verb = (renews ? { leaseMs: this.#deps.leaseMs, ...writing } : writing) as OwnerVerb
    this.sealed ||= !renews
    const write = {
      claim: this.claim,
      number: ++this.#number,
      verb,
      events: this.#events ?? NONE,
      logs: this.#logs ?? NONE,
      progress: this.#progress,
      streams: this.#streams,
      effects: this.#effects,
    }
    this.#events = null
    this.#logs = null
    this.#progress = null
    this.#streams = null
    this.#effects = null
    return write
  }
}
