import { lazyCode } from '../model/lazy.ts'

/** Loaded when steps, log lines, signals or a run that waits are first read. */
export const lazyRunRows = lazyCode(() => import('./run-rows.ts'))
