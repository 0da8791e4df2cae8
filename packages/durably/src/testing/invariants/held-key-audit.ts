// HeldKeyAudit — I70: from the first claim of a run with `holdKey` until it ends, no other run of its key is claimed.
// It compares the rows of one look with those of the look before. It does not ask how the store knows who has a key.
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { Violation } from './history.ts'

export class HeldKeyAudit {
  readonly #generations = new Map<string, number>()
  /** The run that holds a key, as it was when it was claimed. */
  readonly #holders = new Map<string, RunRow>()

  look(runs: readonly RunRow[]): Violation[] {
    const claimed = runs.filter((run) => run.concurrencyKey !== null && run.leaseGeneration > (this.#generations.get(run.id) ?? 0))
    for (const { id, leaseGeneration } of claimed) this.#generations.set(id, leaseGeneration)
    this.#forgetEnded(runs)
    const violations = claimed.flatMap((run) => {
      const holder = this.#holders.get(run.concurrencyKey ?? '')
      if (!holder || holder.id === run.id) return []
      return { invariant: 'I70', runId: run.id, what: `was claimed while run ${holder.id}, which has not ended, holds its key` }
    })
    for (const run of claimed) if (run.holdKey && !isTerminal(run.status)) this.#holders.set(run.concurrencyKey ?? '', run)
    return violations
  }

  /** One that was retried since has ended in between. */
  #forgetEnded(runs: readonly RunRow[]): void {
    if (this.#holders.size === 0) return
    const byId = new Map(runs.map((run) => [run.id, run]))
    for (const [key, { id, retryGeneration }] of this.#holders) {
      const now = byId.get(id)
      if (!now || isTerminal(now.status) || now.retryGeneration !== retryGeneration) this.#holders.delete(key)
    }
  }
}
