// Executor — executes claimed runs.
import { Alarm } from '../model/alarm.ts'
import { wrapped } from '../model/wrapper.ts'
import type { ActiveExecutions, Slot } from './active-executions.ts'
import { executeRun } from './execute-run.ts'
import { Execution, type ExecutionDeps } from './execution.ts'
import { CommitQueue } from './lease/commit-queue.ts'
import type { Claimed } from './lease/run-clock.ts'
import type { JobContextDeps } from './steps/job-context.ts'
import { lazyChildSteps } from './steps/lazy-steps.ts'
import type { WorkerDeps } from './worker-deps.ts'

export interface SlotListener {
  /** A job is done, and how it ended is about to be written. */
  onEnding(): unknown
  /** A slot has become free. */
  onFree(): unknown
}

export class Executor {
  readonly #deps: JobContextDeps & ExecutionDeps
  readonly #active: ActiveExecutions
  readonly #beats: Alarm
  readonly #listener: SlotListener

  constructor(deps: WorkerDeps, active: ActiveExecutions, listener: SlotListener) {
    const commits = new CommitQueue({ runs: deps.store.runs, env: deps.env, writers: () => active.size })
    this.#beats = new Alarm(deps.env, () => {
      for (const { heartbeat } of active.executions()) heartbeat.beatIfDue()
    })
    const children = lazyChildSteps({ runs: deps.store.runs, ...deps })
    this.#deps = { commits, children, beats: this.#beats, ...deps }
    this.#active = active
    this.#listener = listener
  }

  launch(claimed: Claimed): Promise<void> {
    const { run } = claimed
    const execution = new Execution(this.#deps, claimed)
    const slot = this.#active.add(execution)
    const onEnding = () => {
      slot.isEnding = true
      this.#listener.onEnding()
    }
    const ended = wrapped(this.#deps.runWrappers, run, () => executeRun(this.#deps, execution, onEnding)).then(
      () => this.#freeSlot(slot),
      (error: unknown) => {
        this.#deps.report(error, run.id)
        this.#freeSlot(slot)
      },
    )
    slot.ended = ended
    return ended
  }

  /** Clears the timer of the heartbeats until the next launch. */
  rest(): void {
    this.#beats.clear()
  }

  #freeSlot(slot: Slot): void {
    slot.execution.heartbeat.stop()
    this.#active.remove(slot)
    this.#listener.onFree()
  }
}
