// A page that triggers and executes runs needs none of these, so each is loaded when it is first used (ADR 0009).
import { lazyCode } from '../../../model/lazy.ts'

export const lazyArchive = lazyCode(() => import('./archive.ts'))
export const lazyLogs = lazyCode(() => import('./logs.ts'))
export const lazyRareQueries = lazyCode(() => import('./rare-queries.ts'))
export const lazySignals = lazyCode(() => import('./signals.ts'))
