/** Shared by executions without steps: a Map of their own would cost more than a small task. */
const NO_STEPS = new Map<string, never>()

/** The steps of one execution that have started and not settled yet. */
export class StepsInFlight {
  #byName: Map<string, Promise<unknown>> = NO_STEPS

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }

  track<T>(name: string, step: Promise<T>): Promise<T> {
    if (this.#byName === NO_STEPS) this.#byName = new Map()
    this.#byName.set(name, step)
    const settle = () => void this.#byName.delete(name)
    step.then(settle, settle)
    return step
  }

  /** Waits also for steps that start meanwhile. */
  async settled(): Promise<void> {
    while (!this.isEmpty) await Promise.allSettled(this.#byName.values())
  }
}
