// The code of some kinds of steps is loaded with the first step of that kind (ADR 0009). If it cannot be loaded for a whole lease, that is not
// the job's fault: another worker goes on with the run.
import type { StreamFunction } from '../../model/job.ts'
import { lazyCode, once } from '../../model/lazy.ts'
import type { ChildQueueDeps } from './child-queue.ts'
import type { ChildSteps } from './child-step.ts'
import { obtainForRun } from './obtain-for-run.ts'
import type { StepBody } from './step-body.ts'
import type { StepRunner } from './step-runner.ts'
import type { StreamStepDeps } from './stream-step.ts'

export const otherSteps = lazyCode(() => import('./other-steps.ts'))
export const streamSteps = lazyCode(() => import('./stream-step.ts'))

export type OtherSteps = typeof import('./other-steps.ts')

export function otherStepsFor({ deps }: StepRunner, obtain = obtainForRun): Promise<OtherSteps> {
  return obtain(deps, 'the code of a step', () => otherSteps(deps.env))
}

/** The code of streams is loaded with the first stream. */
export async function lazyStreamStep<TState>(deps: StreamStepDeps, fn: StreamFunction<unknown, TState>): Promise<StepBody> {
  const { streamStep } = await obtainForRun(deps, 'the code of streams', () => streamSteps(deps.env))
  return streamStep(deps, fn)
}

export type LazyChildSteps = () => ChildSteps | Promise<ChildSteps>

/** One for all runs of a worker. */
export function lazyChildSteps(deps: ChildQueueDeps): LazyChildSteps {
  return once(async () => new (await otherSteps(deps.env)).ChildSteps(deps))
}
