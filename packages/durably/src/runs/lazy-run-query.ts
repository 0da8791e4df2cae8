import { lazyCode } from '../model/lazy.ts'

/** Loaded with the first list of runs. */
export const lazyRunQuery = lazyCode(() => import('./run-query.ts'))
