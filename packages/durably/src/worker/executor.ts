// Executor — executes claimed runs. The larger half of a worker, loaded with the first run: whoever only triggers and reads does
// not carry it.
import type { Claimed } from './claim-runs.ts'
import { CommitQueue } from './commit-queue.ts'
import { executeRun } from './execute-run.ts'
import { Execution, type ExecutionKit } from './execution.ts'
import type { InHand, Slot } from './in-hand.ts'
import type { WorkerKit } from './kit.ts'

export class Executor {
  readonly #kit: WorkerKit & ExecutionKit
  readonly #inHand: InHand
  readonly #onFree: () => void

  /** `onFree`: a slot has become free. */
  constructor(kit: WorkerKit, inHand: InHand, onFree: () => void) {
    const commits = new CommitQueue({ runs: kit.store.runs, env: kit.env, writers: () => inHand.size })
    this.#kit = { commits, ...kit }
    this.#inHand = inHand
    this.#onFree = onFree
  }

  launch({ run, lease }: Claimed): Promise<void> {
    const slot = this.#inHand.add(new Execution(this.#kit, run, lease))
    const ended = this.#execute(slot)
    slot.ended = ended
    return ended
  }

  async #execute(slot: Slot): Promise<void> {
    const { execution } = slot
    const { id, jobName } = execution.run
    try {
      const job = this.#kit.jobs.get(jobName)
      if (job) await executeRun(this.#kit, execution, job)
    } catch (error) {
      this.#kit.report(error, id)
    } finally {
      execution.heartbeat.stop()
      this.#inHand.remove(slot)
      this.#onFree()
    }
  }
}
