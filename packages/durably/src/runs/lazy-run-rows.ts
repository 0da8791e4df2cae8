import { lazyCode } from '../model/lazy.ts'

/** Loaded when steps, log lines or signals are first read. */
export const lazyRunRows = lazyCode(() => import('./run-rows.ts'))
