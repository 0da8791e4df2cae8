import type { Env } from './env.ts'

const FIRST_MS = 20
const LONGEST_MS = 1000

/** How long to wait before trying an infrastructure call again: doubling, capped, with full jitter above a floor. */
export function backoffMs(env: Env, attempt: number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return Math.ceil(FIRST_MS + env.random() * (ceiling - FIRST_MS))
}
