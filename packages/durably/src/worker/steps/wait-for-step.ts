import { DurablyError } from '../../model/errors.ts'
import type { WaitForOptions } from '../../model/job.ts'
import { otherStepsFor } from './lazy-steps.ts'
import { obtainEvenIfInterrupted } from './obtain-for-run.ts'
import type { StepCall, StepRunner } from './step-runner.ts'

/** What `signal-step.ts` recorded: the value in an array, or an empty one. */
export async function waitForStep(steps: StepRunner, name: string, options: WaitForOptions): Promise<unknown> {
  const work = async (call: StepCall) => (await otherStepsFor(steps, obtainEvenIfInterrupted)).receiveSignal(steps, call, options)
  const record = await steps.step(name, work)
  const received = record as unknown[]
  if (received.length > 0) return received[0]
  const timedOut = new DurablyError('wait_timeout', `no signal ${JSON.stringify(name)} came in time`)
  steps.failed.blame(name, timedOut)
  throw timedOut
}
