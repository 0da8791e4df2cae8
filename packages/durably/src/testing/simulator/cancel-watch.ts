// CancelWatch — checks after each cancel that it has reached every run below.
//   I29. A cancel is one commit: as soon as a run is asked to stop, all those below it that were there before are, or have ended.
import { isTerminal, type RunRow } from '../../model/run.ts'
import { grouped, type Violation } from '../invariants/index.ts'

export class CancelWatch {
  readonly violations: Violation[] = []
  /** The runs that were cancelled since the last look, with the ids that were known then: a child may also be triggered after the cancel. */
  readonly #cancelled = new Map<string, ReadonlySet<string>>()
  #seen: readonly RunRow[] = []

  cancelled(runId: string): void {
    this.#cancelled.set(runId, new Set(this.#seen.map(({ id }) => id)))
  }

  look(runs: readonly RunRow[]): void {
    this.#seen = runs
    if (this.#cancelled.size === 0) return
    const children = grouped(runs, ({ parentRunId }) => parentRunId ?? '')
    for (const [id, known] of this.#cancelled) {
      // On SQL these rows may have been read before the cancel.
      if (!runs.some((run) => run.id === id && run.cancelRequestedAt !== null)) continue
      this.#cancelled.delete(id)
      const asked = [id]
      for (let above = asked.pop(); above !== undefined; above = asked.pop()) {
        for (const run of (children.get(above) ?? []).filter((child) => known.has(child.id))) {
          if (!isTerminal(run.status) && run.cancelRequestedAt === null)
            this.violations.push({ invariant: 'I29', runId: run.id, what: `was not asked to stop together with run ${id} above it` })
          // A run that has come to another end keeps those below it.
          if (run.cancelRequestedAt !== null && (run.status === 'cancelled' || !isTerminal(run.status))) asked.push(run.id)
        }
      }
    }
  }
}
