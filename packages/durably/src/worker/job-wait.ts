/**
 * `parked`: the job waits for what does not come in this execution. `ignores its signal`: it was asked to stop, and is left behind if it
 * goes on.
 */
type Reason = 'parked' | 'ignores its signal'

/** Why the job function is not waited for any more. */
export interface NotAwaited {
  readonly notAwaited: Reason
}

/** The wait for the job function of one execution, which can stop before the function ends; the first reason counts. */
export class JobWait {
  #outcome: NotAwaited | null = null
  #listeners: ((outcome: NotAwaited) => void)[] | null = null

  stop(why: Reason): void {
    this.#outcome ??= { notAwaited: why }
    for (const listener of this.#listeners?.splice(0) ?? []) listener(this.#outcome)
  }

  /** Calls back at once if it has stopped. */
  onStopped(listener: (outcome: NotAwaited) => void): void {
    if (this.#outcome) listener(this.#outcome)
    else if (this.#listeners) this.#listeners.push(listener)
    else this.#listeners = [listener]
  }
}
