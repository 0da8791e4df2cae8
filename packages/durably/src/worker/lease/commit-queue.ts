// CommitQueue — the owner writes of this process on their way to the store.
//   B1. What is ready in the same turn goes in one transaction: ten runs share one commit. A run alone does not wait.
//   B2. A run has one write in a group at most, in the order its writes were asked for.
//   B3. One group at a time; what comes meanwhile gathers for the next. A group that is slow is not waited for:
//       a connection that hangs must not cost the leases of every run here.
//   B4. An unknown outcome is unknown for all members, each sends its own again (R3). Data that the store rejects spoils
//       the whole transaction, so the members are sent one by one, and only the bad one fails.
import type { Env, TimerHandle } from '../../model/env.ts'
import { hasCode } from '../../model/errors.ts'
import type { OwnerWrite, WriteOutcome } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'

/** What one transaction takes; more of them would hold the others up. */
const GROUP_MAX = 100
const SLOW_MS = 250

interface CommitQueueDeps {
  runs: RunStore
  env: Env
  /** How many runs are being executed here: when each of them has a write waiting, nobody else will come. */
  writers: () => number
}

/** A write, and who waits for its answer. */
interface Member {
  write: OwnerWrite
  resolve: (outcome: WriteOutcome) => void
  reject: (error: unknown) => void
}

export class CommitQueue {
  readonly #deps: CommitQueueDeps
  #waiting: Member[] = []
  #turnAsked = false
  /** Counts the groups; the last one is under way while it is busy. */
  #group = 0
  #busy = false
  /** Runs while somebody waits for the group that is under way. */
  #slow: TimerHandle | null = null

  constructor(deps: CommitQueueDeps) {
    this.#deps = deps
  }

  add(member: Member): void {
    this.#waiting.push(member)
    if (this.#busy) return this.#watchSlow()
    if (this.#waiting.length >= this.#deps.writers()) this.#send()
    else this.#sendNextTurn()
  }

  #sendNextTurn(): void {
    if (this.#turnAsked) return
    this.#turnAsked = true
    this.#deps.env.defer(() => {
      this.#turnAsked = false
      if (!this.#busy) this.#send()
    })
  }

  #send(): void {
    if (this.#waiting.length === 0) return
    const group = this.#takeGroup()
    this.#busy = true
    const number = ++this.#group
    if (this.#waiting.length > 0) this.#watchSlow()
    void this.#commit(group).then(() => this.#over(number))
  }

  #watchSlow(): void {
    const number = this.#group
    this.#slow ??= this.#deps.env.timer(SLOW_MS, () => this.#over(number))
  }

  /** One that was slow is over twice, and counts once. */
  #over(number: number): void {
    if (number !== this.#group || !this.#busy) return
    if (this.#slow !== null) this.#deps.env.clear(this.#slow)
    this.#slow = null
    this.#busy = false
    this.#send()
  }

  /** B2. The second write of a run, of an owner that lost it and the next one, waits for the next group. */
  #takeGroup(): Member[] {
    if (this.#waiting.length === 1) return this.#waiting.splice(0)
    const group = new Map<string, Member>()
    const later: Member[] = []
    for (const member of this.#waiting) {
      const { runId } = member.write.claim
      if (group.size < GROUP_MAX && !group.has(runId)) group.set(runId, member)
      else later.push(member)
    }
    this.#waiting = later
    return [...group.values()]
  }

  async #commit(group: readonly Member[]): Promise<void> {
    try {
      const outcomes = await this.#deps.runs.apply(group.map(({ write }) => write))
      group.forEach(({ resolve }, i) => {
        resolve(outcomes[i] ?? { ok: false })
      })
    } catch (error) {
      if (group.length > 1 && hasCode(error, 'store_rejected')) for (const member of group) await this.#commit([member])
      else for (const { reject } of group) reject(error)
    }
  }
}
