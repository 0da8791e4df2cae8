import type { SignalRow } from '../model/signal.ts'
import type { JobContextParts } from './job-context.ts'
import { untilLeaseIsOver } from './until-lease-is-over.ts'

/** What was sent to a run, as of when its execution first asked; what comes later is seen when it wants to park. */
export class SentSignals {
  readonly #parts: JobContextParts
  #read: Promise<SignalRow[] | null> | undefined

  constructor(parts: JobContextParts) {
    this.#parts = parts
  }

  async find(name: string): Promise<SignalRow | undefined> {
    const { execution, store } = this.#parts
    this.#read ??= untilLeaseIsOver(this.#parts, () => store.signals.list(execution.run.id))
    const signals = await this.#read
    // An error of the store is not the job's (R6): somebody else goes on with the run.
    if (signals === null) execution.owner.lose('its signals could not be read for a whole lease')
    execution.goOn()
    return signals?.find((sent) => sent.name === name)
  }
}
