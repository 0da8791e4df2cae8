/** `parked`: the job waits for what does not come in this execution. `left behind`: it was asked to stop and goes on. */
type Reason = 'parked' | 'left behind'

/** Why the job function is not waited for any more. */
export interface Dismissed {
  readonly dismissed: Reason
}

/** The moment from which the job function of one execution is not waited for any more; the first reason counts. */
export class Dismissal {
  #outcome: Dismissed | null = null
  #listeners: ((outcome: Dismissed) => void)[] | null = null

  dismiss(why: Reason): void {
    this.#outcome ??= { dismissed: why }
    for (const listener of this.#listeners?.splice(0) ?? []) listener(this.#outcome)
  }

  /** Calls back at once if it has been dismissed. */
  onDismissed(listener: (outcome: Dismissed) => void): void {
    if (this.#outcome) listener(this.#outcome)
    else if (this.#listeners) this.#listeners.push(listener)
    else this.#listeners = [listener]
  }
}
