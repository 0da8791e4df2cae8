import { lazyCode } from '../model/lazy.ts'

/** Loaded with the first list of runs, or the first run that is given a rare option. */
export const lazyRunQuery = lazyCode(() => import('./run-query.ts'))

export type RunQueryCode = typeof import('./run-query.ts')
