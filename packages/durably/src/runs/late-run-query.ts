import { type Env, loaded } from '../model/env.ts'

/** Loaded with the first list of runs. */
export function lateRunQuery(env: Env): Promise<typeof import('./run-query.ts')> {
  return loaded(env, () => import('./run-query.ts'))
}
