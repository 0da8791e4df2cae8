/**
 * One caller waits until another one wakes it. A wake-up that comes while nobody waits is not kept, so a caller
 * checks first whether it has to wait.
 */
export class Waiter {
  #resolve: () => void = () => {}

  /** Resolves at the next `wake()`. A second caller would take the place of the first. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  wake(): void {
    this.#resolve()
  }
}
