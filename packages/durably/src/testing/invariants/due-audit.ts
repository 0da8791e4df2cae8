// DueAudit — what must hold of times at every moment, checked between two looks at the rows.
//   I15. A run that was asked to stop is not put to sleep.
//   I25. What a run waits for keeps its time: neither being woken for something else nor a retry begins it anew.
//   I32. A run whose deadline is over is not taken back to be executed again, and nobody waits beyond a deadline.
import type { RunRow } from '../../model/run.ts'
import { decodeWaits } from '../../model/wait.ts'
import type { Violation } from './history.ts'

export class DueAudit {
  /** Only those that are there: a parent that was purged asks nobody to stop any more. */
  #runs: ReadonlyMap<string, RunRow> = new Map()
  readonly #times = new Map<string, number>()
  readonly violations: Violation[] = []

  /** `nowMs` is the store's own clock. */
  look(runs: readonly RunRow[], nowMs: number): void {
    const runsBefore = this.#runs
    this.#runs = new Map(runs.map((run) => [run.id, run]))
    for (const run of runs) {
      const before = runsBefore.get(run.id)
      if (before?.version === run.version) continue
      if (before?.waitingFor !== run.waitingFor) this.#lookAtWaits(run)
      if (before?.status !== 'running' || run.status !== 'pending') continue
      // Taken back after the store's clock was set back, it may have a time that lies ahead; nobody gave it that.
      if (run.runAt > nowMs && run.runAt !== before.runAt && this.#isAskedToStop(run))
        this.#broken('I15', run.id, `was asked to stop, and sleeps for ${run.runAt - nowMs} ms`)
      if (run.deadlineAt !== null) this.#lookAtDeadline(before, run, nowMs)
    }
  }

  #isAskedToStop({ cancelRequestedAt, parentRunId }: RunRow): boolean {
    const parent = parentRunId === null ? undefined : this.#runs.get(parentRunId)
    return cancelRequestedAt !== null || (parent !== undefined && parent.cancelRequestedAt !== null)
  }

  #lookAtWaits({ id, waitingFor }: RunRow): void {
    for (const { name, kind, dueAt } of decodeWaits(waitingFor)) {
      // A step that is tried once more has another time.
      if (kind === 'retry') continue
      const was = this.#times.get(`${id}/${name}`)
      if (was !== undefined && was !== dueAt) this.#broken('I25', id, `the time of ${name} went from ${was} to ${dueAt}`)
      if (dueAt !== null) this.#times.set(`${id}/${name}`, dueAt)
    }
  }

  #lookAtDeadline({ leaseWrites, cancelRequestedAt }: RunRow, run: RunRow, nowMs: number): void {
    const deadlineAt = run.deadlineAt ?? 0
    const byOwner = run.leaseWrites !== leaseWrites
    if (!byOwner && deadlineAt <= nowMs && cancelRequestedAt === null)
      this.#broken('I32', run.id, `was taken back ${nowMs - deadlineAt} ms after its deadline, and did not fail`)
    if (byOwner && run.runAt > deadlineAt && run.runAt > nowMs)
      this.#broken('I32', run.id, `goes on ${run.runAt - deadlineAt} ms after its deadline`)
  }

  #broken(invariant: string, runId: string, what: string): void {
    this.violations.push({ invariant, runId, what })
  }
}
