import type { Env, TimerHandle } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { Worker } from './worker.ts'

export interface UntilIdleOptions {
  /** When to end: no run starts after it, and those in hand are asked to stop and given back. */
  deadline?: Date | number
  maxRuns?: number
}

/** Executes runs, `concurrency` at a time, until none is due; returns how many. */
export async function processUntilIdle(
  worker: Worker,
  { env, concurrency }: { env: Env; concurrency: number },
  { deadline, maxRuns = Number.POSITIVE_INFINITY }: UntilIdleOptions = {},
): Promise<number> {
  const end = deadline === undefined ? Number.POSITIVE_INFINITY : Number(deadline)
  if (Number.isNaN(end)) throw new DurablyError('invalid_argument', 'deadline must be a Date or a time in milliseconds since 1970')
  let started = 0
  let processed = 0
  const work = async () => {
    while (started < maxRuns && env.wall() < end) {
      started++
      const found = await worker.processOne()
      if (!found) {
        started--
        return
      }
      processed++
    }
  }
  const alarm: TimerHandle | null = Number.isFinite(end) ? env.timer(Math.max(0, end - env.wall()), () => worker.interruptAll()) : null
  try {
    await Promise.all(Array.from({ length: concurrency }, work))
  } finally {
    if (alarm !== null) env.clear(alarm)
  }
  return processed
}
