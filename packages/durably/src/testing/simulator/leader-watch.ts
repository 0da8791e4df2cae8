// LeaderWatch — I42: the epoch of the leader grows with each change of the leader, and never decreases.
import type { LeadOutcome, LeadRequest } from '../../store/cluster/leaders.ts'
import type { Violation } from '../invariants/index.ts'

export class LeaderWatch {
  /** How often another process took the lead. */
  changes = 0
  readonly #violations: Violation[]
  #leader = { epoch: 0, token: '' }

  constructor(violations: Violation[]) {
    this.#violations = violations
  }

  /** The epoch of the process that leads, or led last. */
  get epoch(): number {
    return this.#leader.epoch
  }

  /** The store has answered a process that wants to lead. */
  led({ token }: LeadRequest, { epoch }: LeadOutcome): void {
    if (epoch === null) return
    const isChange = token !== this.#leader.token
    if (epoch < this.epoch || (isChange && epoch === this.epoch))
      this.#violations.push({ invariant: 'I42', runId: null, what: `epoch ${epoch} was granted after ${this.epoch}` })
    if (isChange && this.epoch > 0) this.changes++
    this.#leader = { epoch, token }
  }
}
