import type { SignalRow } from '../../model/signal.ts'
import { readForRun } from './read-for-run.ts'
import type { StepRunnerDeps } from './step-runner.ts'

/** The signals of a run, read when its execution first asks. A signal that comes later is noticed when the run parks. */
export class SentSignals {
  readonly #deps: StepRunnerDeps
  #read: Promise<SignalRow[]> | undefined

  constructor(deps: StepRunnerDeps) {
    this.#deps = deps
  }

  async find(name: string): Promise<SignalRow | undefined> {
    const { execution, store } = this.#deps
    this.#read ??= readForRun(this.#deps, 'its signals', () => store.signals.list(execution.run.id))
    const signals = await this.#read
    execution.goOn()
    return signals.find((sent) => sent.name === name)
  }
}
