// ChildQueue — stores the child runs that runs of this worker trigger, many in one call.
//   K1. Children that are triggered in the same turn go together, a bounded number at a time, and one call after the other: five thousand
//       children are fifty calls, and heartbeats, timers and I/O have a turn between them.
//   K2. While the store is unavailable the call is repeated (R6). Data that it rejects, or a parent with another owner, fails the whole
//       call, so its members are then sent one by one, and only the bad one fails.
import type { Env } from '../../model/env.ts'
import { hasCode } from '../../model/errors.ts'
import type { TurnBudget } from '../../model/turn-budget.ts'
import type { Created, NewRun, RunStore } from '../../store/runs.ts'
import { untilLeaseIsOver } from '../lease/until-lease-is-over.ts'

const GROUP_MAX = 100
const GROUP_CHARS_MAX = 1_000_000

export interface ChildQueueDeps {
  runs: RunStore
  env: Env
  turn: TurnBudget
  leaseMs: number
  report: (error: unknown) => void
}

interface Member {
  child: NewRun
  resolve: (created: Created | null) => void
  reject: (error: unknown) => void
}

export class ChildQueue {
  readonly #deps: ChildQueueDeps
  #waiting: Member[] = []
  #isSending = false

  constructor(deps: ChildQueueDeps) {
    this.#deps = deps
  }

  /** The child as it is now; `null` when the store was unavailable for a whole lease. */
  create(child: NewRun): Promise<Created | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ child, resolve, reject })
      if (!this.#isSending) void this.#sendAll()
    })
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.length > 0) {
      await this.#deps.turn.yield()
      await this.#send(this.#waiting.splice(0, this.#groupSize()))
    }
    this.#isSending = false
  }

  #groupSize(): number {
    let chars = 0
    const isFull = ({ child }: Member, i: number) => {
      chars += child.payload?.length ?? 0
      return i === GROUP_MAX || (chars > GROUP_CHARS_MAX && i > 0)
    }
    const size = this.#waiting.findIndex(isFull)
    return size < 0 ? this.#waiting.length : size
  }

  async #send(group: readonly Member[]): Promise<void> {
    try {
      const created = await untilLeaseIsOver(this.#deps, () => this.#deps.runs.create(group.map(({ child }) => child)))
      group.forEach(({ resolve }, i) => {
        resolve(created?.[i] ?? null)
      })
    } catch (error) {
      if (group.length > 1 && (hasCode(error, 'store_rejected') || hasCode(error, 'run_not_found')))
        for (const member of group) await this.#send([member])
      else for (const { reject } of group) reject(error)
    }
  }
}
