// A page that triggers and executes runs needs none of these, so each is loaded when it is first used (ADR 0009).
import { lazyCode } from '../../../model/lazy.ts'

export const lazyArchive = lazyCode(() => import('./archive.ts'))
export const lazyCount = lazyCode(() => import('./count.ts'))
export const lazyDueJobs = lazyCode(() => import('./due-jobs.ts'))
export const lazyList = lazyCode(() => import('./list-runs.ts'))
export const lazyLogs = lazyCode(() => import('./logs.ts'))
export const lazyOldestDue = lazyCode(() => import('./oldest-due.ts'))
export const lazyPurge = lazyCode(() => import('./purge.ts'))
export const lazySignals = lazyCode(() => import('./signals.ts'))
export const lazyWasAlive = lazyCode(() => import('./was-alive.ts'))
