// Moment — now, by both clocks of this process. A sleeping machine stops the monotonic clock, and an adjustment moves the wall clock.
import type { Env } from './env.ts'

export interface Moment {
  wall: number
  mono: number
}

export function momentOf(env: Pick<Env, 'wall' | 'mono'>): Moment {
  return { wall: env.wall(), mono: env.mono() }
}

/** By the clock that says more: no less time has passed, unless both clocks are wrong. */
export function elapsedMs(env: Env, { mono, wall }: Moment): number {
  return Math.max(env.mono() - mono, env.wall() - wall)
}

/**
 * One of the clocks stood still or was adjusted since then, so neither shows how much time has passed. A smaller difference is ignored:
 * the wall clock counts whole milliseconds, and both are corrected bit by bit.
 */
export function clocksDiffer(env: Env, { mono, wall }: Moment): boolean {
  return Math.abs(env.wall() - wall - (env.mono() - mono)) >= DIFFERENCE_MS_MAX
}

export const DIFFERENCE_MS_MAX = 1000
