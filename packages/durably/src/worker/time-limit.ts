// TimeLimits — stops an execution when its timeout or the deadline of its run is over.
//   A timeout counts the time that the execution could work, so it stands still while the machine sleeps. A deadline is a time of the
//   store's clock. Timers stand still as well while the machine sleeps; therefore a deadline is also checked before a function starts,
//   when the job has ended and with every heartbeat.
import type { Duration } from '../model/duration.ts'
import { type Env, iso, type TimerHandle } from '../model/env.ts'
import type { Execution } from './execution.ts'
import type { Timeout } from './lazy-limits.ts'

/** Starts the timeout of the job, and watches the deadline of the run. */
export function limitTime(env: Env, execution: Execution, timeout: Timeout): void {
  execution.limits = new TimeLimits(env, execution, timeout)
  execution.limits.watch()
}

export class TimeLimits {
  readonly #env: Env
  readonly #execution: Execution
  readonly #timeout: Duration | undefined
  /** By the monotonic clock. */
  readonly #endsAt: number
  /** By the store's; infinite if the run has none. */
  readonly #deadlineAt: number
  #timer: TimerHandle | null = null

  constructor(env: Env, execution: Execution, { timeout, timeoutMs }: Timeout) {
    this.#env = env
    this.#execution = execution
    this.#timeout = timeout
    this.#endsAt = env.mono() + timeoutMs
    this.#deadlineAt = execution.run.deadlineAt ?? Number.POSITIVE_INFINITY
  }

  /** Interrupts the execution if a limit is over; a promise when the store has to be asked for the time. */
  check(): Promise<void> | undefined {
    const execution = this.#execution
    const isPast = this.#deadlineAt < Number.POSITIVE_INFINITY && execution.clock.time.isPast(this.#deadlineAt)
    if (this.#env.mono() >= this.#endsAt) execution.outOfTime(`its timeout is ${this.#timeout}`)
    else if (isPast) execution.outOfTime(`its deadline was ${iso(this.#deadlineAt)}`)
    else if (isPast === undefined) return this.#ask()
  }

  async #ask(): Promise<void> {
    await this.#execution.clock.askForTime()
    if (!this.#execution.owner.isOver) await this.check()
  }

  /** Looks again when the next limit may be over. */
  watch(): void {
    const left = Math.min(this.#endsAt - this.#env.mono(), this.#deadlineAt - this.#execution.clock.time.earliest())
    // A timer may be shorter than it was asked to be (model/env.ts), and a deadline may turn out to be ahead.
    this.#timer = this.#env.timer(Math.max(0, left), async () => {
      await this.check()
      const { willStopWaiting, owner } = this.#execution
      if (!willStopWaiting && !owner.isOver && this.#timer !== null) this.watch()
    })
  }

  stop(): void {
    this.#env.clear(this.#timer)
    this.#timer = null
  }
}
