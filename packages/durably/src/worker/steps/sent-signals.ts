import type { SignalRow } from '../../model/signal.ts'
import type { JobContextParts } from './job-context.ts'
import { readForRun } from './read-for-run.ts'

/** What was sent to a run, as of when its execution first asked; what comes later is seen when it wants to park. */
export class SentSignals {
  readonly #parts: JobContextParts
  #read: Promise<SignalRow[]> | undefined

  constructor(parts: JobContextParts) {
    this.#parts = parts
  }

  async find(name: string): Promise<SignalRow | undefined> {
    const { execution, store } = this.#parts
    this.#read ??= readForRun(this.#parts, 'its signals', () => store.signals.list(execution.run.id))
    const signals = await this.#read
    execution.goOn()
    return signals.find((sent) => sent.name === name)
  }
}
