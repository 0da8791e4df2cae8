import { type Env, loaded } from '../model/env.ts'
import type { RunConditions } from '../model/run-filter.ts'
import type { ManyRunsBounds, ManyRunsDeps, ManyRunsOptions, ManyRunsOutcome, ManyRunsVerb } from './many-runs.ts'
import type { RunReader } from './run-reader.ts'

interface LazyManyRunsDeps extends Omit<ManyRunsDeps, 'getRuns'> {
  env: Env
  reader: RunReader
}

/** Loaded with the first command about many runs. */
export async function lazyManyRuns(
  { env, commands, reader }: LazyManyRunsDeps,
  verb: ManyRunsVerb,
  filter: RunConditions,
  options?: ManyRunsOptions,
  bounds?: ManyRunsBounds,
): Promise<ManyRunsOutcome> {
  const { manyRuns } = await loaded(env, () => import('./many-runs.ts'))
  return manyRuns({ commands, getRuns: (page) => reader.getRuns(page) }, verb, filter, options, bounds)
}
