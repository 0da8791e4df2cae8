// WakeUp — lets one loop sleep until time has passed or somebody wakes it.
// A wake-up that comes while nobody sleeps is kept for the next sleep, so none is lost.
import type { Env, TimerHandle } from '../model/env.ts'

export class WakeUp {
  readonly #env: Env
  #woken = false
  #sleeper: (() => void) | null = null

  constructor(env: Env) {
    this.#env = env
  }

  wake(): void {
    this.#woken = true
    this.#sleeper?.()
  }

  /** True when woken, false when the time was over; `Infinity` sleeps until woken. */
  async sleep(ms: number): Promise<boolean> {
    if (!this.#woken) await this.#doze(ms)
    const woken = this.#woken
    this.#woken = false
    return woken
  }

  #doze(ms: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: TimerHandle | null = null
      this.#sleeper = () => {
        if (timer !== null) this.#env.clear(timer)
        this.#sleeper = null
        resolve()
      }
      if (Number.isFinite(ms)) timer = this.#env.timer(ms, this.#sleeper)
    })
  }
}
