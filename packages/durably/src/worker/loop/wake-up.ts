// WakeUp — lets one loop sleep until time has passed or somebody wakes it.
// A wake-up that comes while nobody sleeps is kept for the next sleep, so none is lost.
import { Alarm } from '../../model/alarm.ts'
import type { Env } from '../../model/env.ts'

export class WakeUp {
  readonly #alarm: Alarm
  #woken = false
  #sleeper: (() => void) | null = null

  constructor(env: Env) {
    this.#alarm = new Alarm(env, () => this.#end())
  }

  wake(): void {
    this.#woken = true
    this.#end()
  }

  /**
   * True when woken, false at this time of the monotonic clock; `Infinity` sleeps until woken. With `latestAt` it may sleep until then while
   * nothing happens (`latestMs` of `Env.timer`).
   */
  async sleepUntil(at: number, latestAt = at): Promise<boolean> {
    if (!this.#woken) await this.#doze(at, latestAt)
    const woken = this.#woken
    this.#woken = false
    return woken
  }

  /** Clears the timer; nobody will sleep for now. */
  rest(): void {
    this.#alarm.clear()
  }

  #doze(at: number, latestAt: number): Promise<void> {
    return new Promise((resolve) => {
      this.#sleeper = resolve
      this.#alarm.set(at, latestAt)
    })
  }

  #end(): void {
    this.#sleeper?.()
    this.#sleeper = null
  }
}
