// CommitQueue — sends the owner writes of this process to the store, several in one transaction.
//   B1. Writes that are ready in the same turn of the event loop go in one transaction: ten runs share one commit. A single run does not wait.
//   B2. A group has at most one write per run; the writes of a run keep their order.
//   B3. One group at a time; what comes meanwhile waits for the next one. After SLOW_MS the next group does not wait for the current one:
//       one hanging connection must not cost the leases of all runs of this process.
//   B4. An unknown outcome is unknown for all members, and each sends its own write again (R3). Data that the store rejects fails
//       the whole transaction. Its members are then sent in four parts, side by side, and a part that is rejected too in four parts again, so
//       only the bad one fails. No member waits for many calls: a heartbeat waits behind the write of its run, and the lease would end
//       meanwhile.
import type { Env, TimerHandle } from '../../model/env.ts'
import { hasCode } from '../../model/errors.ts'
import type { OwnerWrite, WriteOutcome } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'

/** The most writes in one transaction; larger ones would delay the others. */
const GROUP_MAX = 100
const SLOW_MS = 250
/** Of a group that was rejected. More would find the bad one in fewer rounds, but a small pool carries only a few calls at a time. */
const PARTS = 4

interface CommitQueueDeps {
  runs: RunStore
  env: Env
  /** How many runs this process executes. When each of them has a write waiting, no further write can come. */
  writers: () => number
}

/** A write, and the caller that waits for its outcome. */
interface Member {
  write: OwnerWrite
  resolve: (outcome: WriteOutcome) => void
  reject: (error: unknown) => void
}

export class CommitQueue {
  readonly #deps: CommitQueueDeps
  #waiting: Member[] = []
  #turnAsked = false
  /** The number of the last group; while `#busy` it is being sent. */
  #group = 0
  #busy = false
  /** Set while a write waits for the group that is being sent. */
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
    void this.#commit(group, () => this.#over(number))
  }

  #watchSlow(): void {
    const number = this.#group
    this.#slow ??= this.#deps.env.timer(SLOW_MS, () => this.#over(number))
  }

  /** Called twice for a slow group: when it is slow, and when it has ended. Only the first call counts. */
  #over(number: number): void {
    if (number !== this.#group || !this.#busy) return
    if (this.#slow !== null) this.#deps.env.clear(this.#slow)
    this.#slow = null
    this.#busy = false
    this.#send()
  }

  /** B2. A second write of the same run comes from its next owner (this process has lost the run and claimed it again) and waits for the next group. */
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

  async #commit(group: readonly Member[], over?: () => void): Promise<void> {
    try {
      const outcomes = await this.#deps.runs.apply(group.map(({ write }) => write))
      group.forEach(({ resolve }, i) => {
        resolve(outcomes[i] ?? { ok: false })
      })
    } catch (error) {
      if (group.length > 1 && hasCode(error, 'store_rejected')) await this.#commitApart(group)
      else for (const { reject } of group) reject(error)
    }
    over?.()
  }

  /** B4. */
  async #commitApart(group: readonly Member[]): Promise<void> {
    const size = Math.ceil(group.length / PARTS)
    const parts: Promise<void>[] = []
    for (let i = 0; i < group.length; i += size) parts.push(this.#commit(group.slice(i, i + size)))
    await Promise.all(parts)
  }
}
