import { lazyCode } from '../model/lazy.ts'

/** Reads event logs; loaded with the first subscription (ADR 0009). */
export const followedLogs = lazyCode(() => import('./followed-logs.ts'))
