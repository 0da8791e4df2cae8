// ClaimWatch — I23: a process that did not get the answer to a claim finds all runs that it claimed when it asks for them (`adopt`).
// A run that it did not find would wait for a whole lease.
import type { RunRow } from '../../model/run.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'

export class ClaimWatch {
  readonly #store: Store
  /** By process, the tokens of its last claim that the store carried out. */
  readonly #tokens = new Map<string, readonly string[]>()
  readonly violations: Violation[] = []

  constructor(store: Store) {
    this.#store = store
  }

  claimed(process: string, tokens: readonly string[]): void {
    this.#tokens.set(process, tokens)
  }

  async adopted(process: string, asked: readonly string[], adopted: readonly RunRow[]): Promise<void> {
    const tokens = new Set<string | null>(this.#tokens.get(process))
    // A claim that was lost on its way to the store took nothing.
    if (!asked.some((token) => tokens.has(token))) return
    const known = new Set(adopted.map(({ id }) => id))
    for (const { id, leaseOwner } of await this.#store.runs.list({ statuses: ['running'] })) {
      if (tokens.has(leaseOwner) && !known.has(id))
        this.violations.push({ invariant: 'I23', runId: id, what: `${process} claimed it, asked what it had claimed, and did not get it` })
    }
  }
}
