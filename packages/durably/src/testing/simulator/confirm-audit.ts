// ConfirmAudit — checks what must hold of a run whose worker is silent (`confirmFor`), between two looks at the rows.
//   I60. A run is marked when its lease is over, once, until its lease and `confirmFor` are over. Nobody takes it from its owner before that.
//   I61. The mark goes with the next accepted write of the owner, and with the end of the lease.
import type { RunRow } from '../../model/run.ts'
import { LEASE_MS_MAX } from '../../store/runs.ts'
import type { Violation } from '../invariants/index.ts'

export class ConfirmAudit {
  readonly violations: Violation[] = []
  /** How often a run was marked, and how often its owner came back. */
  readonly counts = { silences: 0, returns: 0 }
  readonly #runs = new Map<string, RunRow>()
  readonly #isAbandoned: (run: RunRow) => boolean

  /** `isAbandoned`: the owner of the run is known to be gone, so nobody waits for it. */
  constructor(isAbandoned: (run: RunRow) => boolean) {
    this.#isAbandoned = isAbandoned
  }

  /** `nowMs` is the store's own clock. */
  look(runs: readonly RunRow[], nowMs: number): void {
    for (const run of runs) {
      const before = this.#runs.get(run.id)
      if (before === run) continue
      this.#runs.set(run.id, run)
      if (run.status !== 'running' && run.continuationState !== null) this.#broken('I61', run, `is ${run.status}, and marked`)
      if (before?.status !== 'running' || before.leaseGeneration !== run.leaseGeneration) continue
      if (run.leaseWrites !== before.leaseWrites) this.#lookAtWrite(before, run)
      else if (run.leaseOwner === before.leaseOwner) this.#lookAtMark(before, run, nowMs)
      else this.#lookAtLoss(before, run, nowMs)
    }
  }

  #lookAtWrite(before: RunRow, run: RunRow): void {
    if (before.continuationState === null) return
    this.counts.returns++
    const isKept = run.continuationState !== null && run.continuationCheckDeadlineAt === before.continuationCheckDeadlineAt
    if (isKept) this.#broken('I61', run, 'is still marked after a write of its owner')
  }

  #lookAtMark(before: RunRow, run: RunRow, nowMs: number): void {
    const deadline = run.continuationCheckDeadlineAt
    if (deadline === before.continuationCheckDeadlineAt) return
    this.counts.silences++
    if (before.continuationCheckDeadlineAt !== null) this.#broken('I60', run, 'was marked a second time')
    else if (deadline !== endOf(before)) this.#broken('I60', run, `is marked until ${deadline}, and not until ${endOf(before)}`)
    if ((before.leaseExpiresAt ?? 0) > nowMs) this.#broken('I60', run, 'was marked before its lease was over')
    if (run.leaseExpiresAt !== deadline) this.#broken('I60', run, 'is marked, and its lease does not last until then')
  }

  #lookAtLoss(before: RunRow, run: RunRow, nowMs: number): void {
    const end = before.continuationCheckDeadlineAt ?? endOf(before)
    if (end <= nowMs || end > nowMs + LEASE_MS_MAX || this.#isAbandoned(before)) return
    this.#broken('I60', run, `was taken from its owner ${end - nowMs} ms before the time was over in which that may come back`)
  }

  #broken(invariant: string, { id }: RunRow, what: string): void {
    this.violations.push({ invariant, runId: id, what })
  }
}

function endOf({ leaseExpiresAt, confirmMs }: RunRow): number {
  return (leaseExpiresAt ?? 0) + (confirmMs ?? 0)
}
