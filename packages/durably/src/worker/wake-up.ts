// WakeUp — lets one loop sleep until time has passed or somebody wakes it.
// A wake-up that comes while nobody sleeps is kept for the next sleep, so none is lost.
import type { Env } from '../model/env.ts'
import { Alarm } from './alarm.ts'

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

  /** True when woken, false when the time was over; `Infinity` sleeps until woken. */
  async sleep(ms: number): Promise<boolean> {
    if (!this.#woken) await this.#doze(ms)
    const woken = this.#woken
    this.#woken = false
    return woken
  }

  /** Nobody will sleep for now. */
  rest(): void {
    this.#alarm.clear()
  }

  #doze(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#sleeper = resolve
      this.#alarm.set(ms)
    })
  }

  #end(): void {
    this.#sleeper?.()
    this.#sleeper = null
  }
}
