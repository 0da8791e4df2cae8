interface StepInFlight {
  readonly name: string
  readonly settled: Promise<unknown>
}

/** The steps of one execution that have started and not settled yet. An array, because a Map makes a new table whenever its last item leaves. */
export class StepsInFlight {
  readonly #steps: StepInFlight[] = []

  get isEmpty(): boolean {
    return this.#steps.length === 0
  }

  get names(): string[] {
    return this.#steps.map(({ name }) => name)
  }

  track<T>(name: string, step: Promise<T>): Promise<T> {
    const one = { name, settled: step }
    this.#steps.push(one)
    const settle = () => void this.#steps.splice(this.#steps.indexOf(one), 1)
    step.then(settle, settle)
    return step
  }

  /** Waits also for steps that start meanwhile. */
  async settled(): Promise<void> {
    while (!this.isEmpty) await Promise.allSettled(this.#steps.map(({ settled }) => settled))
  }
}
