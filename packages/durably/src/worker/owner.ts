// Owner — the writing hand of one lease: the order of its writes, what rides along, and when the lease is lost.
//   O1. One write at a time, in the order asked: write numbers must arrive in order (W2).
//   O2. An unknown outcome is sent again, unchanged, until the lease is over (R3, R6).
//   O3. A refusal ends it: the run has another owner, nothing is sent after (R1).
//   O4. Only `store_rejected` is thrown: the data cannot be stored, sending it again would not help.
import { backoffMs } from '../model/backoff.ts'
import { type Env, sleep } from '../model/env.ts'
import { hasCode } from '../model/errors.ts'
import type { RecordedEvent } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { Claim, OwnerVerb, OwnerWrite, WriteOutcome } from '../store/owner-write.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { LeaseAge } from './lease-age.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface OwnerParts {
  commits: CommitQueue
  env: Env
  turn: TurnBudget
  claim: Claim
  lease: LeaseAge
  leaseMs: number
  report: (error: unknown) => void
  onLost: (why: string) => void
  onCancelRequested: () => void
}

type WithoutLease<V> = V extends { leaseMs: number } ? Omit<V, 'leaseMs'> : V
/** The lease's length is the owner's to add. */
export type Writing = WithoutLease<OwnerVerb>

export class Owner {
  readonly #parts: OwnerParts
  #tail: Promise<unknown> = Promise.resolve()
  #number = 0
  #events: RecordedEvent[] = []
  #logs: LogRow[] = []
  #progress: string | null = null
  #streams: string | null = null
  /** Ends the wait for an answer that may never come. */
  #stopWaiting: () => void = () => {}
  lost = false
  /** The ending is under way; nothing can ride along any more. */
  sealed = false

  constructor(parts: OwnerParts) {
    this.#parts = parts
  }

  rideEvent(event: RecordedEvent): void {
    this.#events.push(event)
  }

  rideLog(line: LogRow): void {
    this.#logs.push(line)
  }

  rideProgress(progress: string | null): void {
    this.#progress = progress
  }

  rideStreams(streams: string): void {
    this.#streams = streams
  }

  /** Something that others wait to read. A `step:start` alone is not: it is written with what comes next, never by itself. */
  get carriesNews(): boolean {
    return this.#logs.length > 0 || this.#progress !== null
  }

  /**
   * True when accepted; false when the lease is lost. `rides` is called when its turn has come: what it lets ride goes with
   * this write, and not with one that was asked for earlier and still waits.
   */
  write(verb: Writing, rides?: () => void): Promise<boolean> {
    const sent = this.#tail.then(() => this.#send(verb, rides))
    this.#tail = sent.catch(() => {})
    return sent
  }

  lose(why: string): void {
    if (this.lost) return
    this.lost = true
    this.#stopWaiting()
    this.#parts.onLost(why)
  }

  async #send(verb: Writing, rides?: () => void): Promise<boolean> {
    const { env, turn, lease, report, leaseMs, onCancelRequested } = this.#parts
    if (turn.spent()) await turn.breathe()
    if (this.lost) return false
    rides?.()
    const write = this.#assemble(verb)
    // Counted from the first sending: it may be that one which took effect.
    const sent = lease.now()
    for (let attempt = 1; !this.lost; attempt++) {
      try {
        const answer = await this.#answer(write)
        if (answer === 'lost') return false
        if (!answer.ok) {
          this.lose('another worker owns the run')
          return false
        }
        lease.renewed(sent)
        if (answer.cancelRequested) onCancelRequested()
        return true
      } catch (error) {
        if (hasCode(error, 'store_rejected')) throw error
        report(error)
        if (hasCode(error, 'store_closed') || hasCode(error, 'store_corrupt')) this.lose('the store cannot be used any more')
        else if (lease.ms() >= leaseMs) this.lose('the store could not be reached for a whole lease')
        else await sleep(env, backoffMs(env, attempt))
      }
    }
    return false
  }

  /** Not a race with one long-lived promise: each write of a long run would leave a reaction on it. */
  #answer(write: OwnerWrite): Promise<WriteOutcome | 'lost'> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = () => resolve('lost')
      this.#parts.commits.apply(write).then(resolve, reject)
    })
  }

  #assemble(writing: Writing): OwnerWrite {
    const renews = writing.type === 'heartbeat' || writing.type === 'recordStep'
    const verb = (renews ? { ...writing, leaseMs: this.#parts.leaseMs } : writing) as OwnerVerb
    this.sealed ||= !renews
    const write = {
      claim: this.#parts.claim,
      number: ++this.#number,
      verb,
      events: this.#events,
      logs: this.#logs,
      progress: this.#progress,
      streams: this.#streams,
    }
    this.#events = []
    this.#logs = []
    this.#progress = null
    this.#streams = null
    return write
  }
}
