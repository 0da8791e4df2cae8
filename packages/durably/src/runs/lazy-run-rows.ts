import { lazyCode } from '../model/lazy.ts'

/** Loaded when steps or log lines are first read. */
export const lazyRunRows = lazyCode(() => import('./run-rows.ts'))
