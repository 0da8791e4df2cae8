// Owner — the writing hand of one lease: the order of its writes, what rides along, and when the lease is lost.
//   O1. One write at a time, in the order asked: write numbers must arrive in order (W2).
//   O2. An unknown outcome is sent again, unchanged, until the lease is over (R3, R6).
//   O3. A refusal ends it: the run has another owner, nothing is sent after (R1).
//   O4. Only `store_rejected` is thrown: the data cannot be stored, sending it again would not help.
import { backoffMs } from '../model/backoff.ts'
import { type Env, sleep } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { RecordedEvent } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { Claim, OwnerVerb, OwnerWrite } from '../store/owner-write.ts'
import type { RunStore } from '../store/runs.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface OwnerParts {
  runs: RunStore
  env: Env
  turn: TurnBudget
  claim: Claim
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
  #renewedWall: number
  #renewedMono: number
  #events: RecordedEvent[] = []
  #logs: LogRow[] = []
  #progress: string | null = null
  #endLoss: () => void = () => {}
  readonly #loss = new Promise<'lost'>((resolve) => {
    this.#endLoss = () => resolve('lost')
  })
  lost = false

  constructor(parts: OwnerParts) {
    this.#parts = parts
    this.#renewedWall = parts.env.wall()
    this.#renewedMono = parts.env.mono()
  }

  /** Milliseconds since the lease was last renewed. A sleeping machine stops one clock, an adjusted one moves the other. */
  age(): number {
    const { env } = this.#parts
    return Math.max(env.mono() - this.#renewedMono, env.wall() - this.#renewedWall)
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

  get carriesAnything(): boolean {
    return this.#events.length > 0 || this.#logs.length > 0 || this.#progress !== null
  }

  /** True when accepted; false when the lease is lost. */
  write(verb: Writing): Promise<boolean> {
    const sent = this.#tail.then(() => this.#send(verb))
    this.#tail = sent.catch(() => {})
    return sent
  }

  lose(why: string): void {
    if (this.lost) return
    this.lost = true
    this.#endLoss()
    this.#parts.onLost(why)
  }

  async #send(verb: Writing): Promise<boolean> {
    const { runs, env, turn, report, leaseMs, onCancelRequested } = this.#parts
    if (turn.spent()) await turn.breathe()
    if (this.lost) return false
    const write = this.#assemble(verb)
    for (let attempt = 1; !this.lost; attempt++) {
      const sentWall = env.wall()
      const sentMono = env.mono()
      try {
        const answer = await Promise.race([runs.apply([write]), this.#loss])
        if (answer === 'lost') return false
        const [outcome] = answer
        if (!outcome?.ok) {
          this.lose('another worker owns the run')
          return false
        }
        this.#renewedWall = sentWall
        this.#renewedMono = sentMono
        if (outcome.cancelRequested) onCancelRequested()
        return true
      } catch (error) {
        if (isRejected(error)) throw error
        report(error)
        if (isClosed(error) || this.age() >= leaseMs) this.lose('the store could not be reached for a whole lease')
        else await sleep(env, backoffMs(env, attempt))
      }
    }
    return false
  }

  #assemble(writing: Writing): OwnerWrite {
    const renews = writing.type === 'heartbeat' || writing.type === 'recordStep'
    const verb = (renews ? { ...writing, leaseMs: this.#parts.leaseMs } : writing) as OwnerVerb
    const write = {
      claim: this.#parts.claim,
      number: ++this.#number,
      verb,
      events: this.#events,
      logs: this.#logs,
      progress: this.#progress,
    }
    this.#events = []
    this.#logs = []
    this.#progress = null
    return write
  }
}

function isRejected(error: unknown): boolean {
  return error instanceof DurablyError && error.code === 'store_rejected'
}

function isClosed(error: unknown): boolean {
  return error instanceof DurablyError && error.code === 'store_closed'
}
