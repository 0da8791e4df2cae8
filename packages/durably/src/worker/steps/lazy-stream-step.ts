import { loaded } from '../../model/env.ts'
import type { StreamFunction } from '../../model/job.ts'
import { readForRun } from './read-for-run.ts'
import type { StepBody } from './step-body.ts'
import type { StreamStepDeps } from './stream-step.ts'

/** The code of streams is loaded with the first stream. */
export async function lazyStreamStep<TState>(deps: StreamStepDeps, fn: StreamFunction<unknown, TState>): Promise<StepBody> {
  const { streamStep } = await readForRun(deps, 'the code of streams', () => loaded(deps.env, () => import('./stream-step.ts')))
  return streamStep(deps, fn)
}
