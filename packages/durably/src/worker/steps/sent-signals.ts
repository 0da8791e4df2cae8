import type { SignalRow } from '../../model/signal.ts'
import { obtainForRun } from './obtain-for-run.ts'
import type { StepRunner } from './step-runner.ts'

/** All signals of a run are read when its execution first asks for one. A signal that comes later is noticed when the run parks. */
export async function findSignal(steps: StepRunner, name: string): Promise<SignalRow | undefined> {
  const { execution, store } = steps.deps
  steps.sentSignals ??= obtainForRun(steps.deps, 'its signals', () => store.signals.list(execution.run.id))
  const signals = await steps.sentSignals
  execution.throwIfInterrupted()
  return signals.find((sent) => sent.name === name)
}
