// SimLimit — when a simulated execution is out of time: the timeout of its job counts by the monotonic clock of its process, the deadline
// of its run by the store's clock.
import { DIFFERENCE_MS_MAX } from '../../model/moment.ts'
import type { JobExecution } from '../invariants/index.ts'
import type { SimProcess } from './sim-process.ts'

export class SimLimit {
  readonly #process: SimProcess
  readonly #execution: JobExecution
  readonly #timeoutMs: number
  /** By the monotonic clock of the process. */
  readonly #endsAt: number
  /** Of the claim that it executes: its process may claim the run again while this execution goes on. */
  readonly #answeredAt: number
  readonly #deadlineByClaim: number

  constructor(process: SimProcess, execution: JobExecution, timeoutMs: number) {
    this.#process = process
    this.#execution = execution
    this.#timeoutMs = timeoutMs
    this.#endsAt = process.env.mono() + timeoutMs
    this.#answeredAt = process.claims.answeredAt(execution.runId)
    this.#deadlineByClaim = process.claims.deadlineByClaim(execution.runId)
  }

  /** The end of its time, by the time of the world; too early if the machine is going to sleep. */
  get freeAt(): number {
    const { now, env } = this.#process
    return Math.min(now + this.#endsAt - env.mono(), this.#process.claims.deadlineOf(this.#execution.runId))
  }

  /** Its time is over, and its process has not just been frozen. */
  isLate(): boolean {
    const { now, env, wokeAt } = this.#process
    const { runId } = this.#execution
    const isPastDeadline =
      now > this.#process.claims.deadlineOf(runId) + DIFFERENCE_MS_MAX && !this.#process.claims.hasMisleadingClocks(runId)
    return now > wokeAt && (env.mono() > this.#endsAt || isPastDeadline)
  }

  /** Records that its signal was aborted because its time is over. */
  recordTimeout(): void {
    const { now, env } = this.#process
    const leftMs = this.#answeredAt + this.#timeoutMs - env.mono()
    this.#execution.timedOutAt = now
    this.#execution.limitAt = Math.min(now + leftMs, this.#deadlineByClaim)
  }
}
