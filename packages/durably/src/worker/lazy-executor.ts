import { type Env, loaded } from '../model/env.ts'
import type { Executor } from './executor.ts'

type ExecutorClass = typeof Executor

let there: ExecutorClass | null = null

/** At once, if it was loaded before. */
export function executorClass(env: Env): ExecutorClass | Promise<ExecutorClass> {
  return there ?? loaded(env, load)
}

async function load(): Promise<ExecutorClass> {
  const { Executor } = await import('./executor.ts')
  there = Executor
  return Executor
}
