import { loaded } from '../../model/env.ts'
import type { StreamFunction } from '../../model/job.ts'
import { readForRun } from './read-for-run.ts'
import type { StepBody } from './step-body.ts'
import type { StreamStepParts } from './stream-step.ts'

/** The code of streams is loaded with the first of them. */
export async function lateStreamStep<TState>(parts: StreamStepParts, fn: StreamFunction<unknown, TState>): Promise<StepBody> {
  const { streamStep } = await readForRun(parts, 'the code of streams', () => loaded(parts.env, () => import('./stream-step.ts')))
  return streamStep(parts, fn)
}
