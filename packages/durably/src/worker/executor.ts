// Executor — executes claimed runs. The larger half of a worker, loaded with the first run: whoever only triggers and reads does
// not carry it.
import type { InHand, Slot } from './active-executions.ts'
import { executeRun } from './execute-run.ts'
import { Execution, type ExecutionKit } from './execution.ts'
import { CommitQueue } from './lease/commit-queue.ts'
import { Pulse } from './lease/heartbeat-timer.ts'
import type { Claimed } from './loop/claim-runs.ts'
import { ChildQueue } from './steps/child-queue.ts'
import type { ContextKit } from './steps/job-context.ts'
import type { WorkerKit } from './worker-deps.ts'

export class Executor {
  readonly #kit: ContextKit & ExecutionKit
  readonly #inHand: InHand
  readonly #pulse: Pulse
  readonly #onFree: () => void

  /** `onFree`: a slot has become free. */
  constructor(kit: WorkerKit, inHand: InHand, onFree: () => void) {
    const commits = new CommitQueue({ runs: kit.store.runs, env: kit.env, writers: () => inHand.size })
    this.#pulse = new Pulse(kit.env, () => inHand.executions())
    const children = new ChildQueue({ runs: kit.store.runs, ...kit })
    this.#kit = { commits, children, pulse: this.#pulse, ...kit }
    this.#inHand = inHand
    this.#onFree = onFree
  }

  launch(claimed: Claimed): Promise<void> {
    const { run } = claimed
    if (run.leaseGeneration > 1) this.#loseEarlier(run.id)
    const execution = new Execution(this.#kit, claimed)
    const slot = this.#inHand.add(execution)
    const ended = executeRun(this.#kit, execution).then(
      () => this.#leave(slot),
      (error: unknown) => {
        this.#kit.report(error, run.id)
        this.#leave(slot)
      },
    )
    slot.ended = ended
    return ended
  }

  /** Until the next launch nobody's heart beats. */
  rest(): void {
    this.#pulse.rest()
  }

  /** It was taken from us unnoticed: what began under the lease before must not go on beside what begins now. */
  #loseEarlier(runId: string): void {
    for (const { run, owner } of this.#inHand.executions()) if (run.id === runId) owner.takenBack('it was claimed anew')
  }

  #leave(slot: Slot): void {
    slot.execution.heartbeat.stop()
    this.#inHand.remove(slot)
    this.#onFree()
  }
}
