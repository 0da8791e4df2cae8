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
  if (!(maxRuns >= 0)) throw new DurablyError('invalid_argument', `maxRuns must be a number of at least 0, got ${maxRuns}`)
  let started = 0
  let processed = 0
  let failed = false
  const work = async () => {
    while (!failed && started < maxRuns && env.wall() < end) {
      started++
      const found = await worker.processOne().catch((error: unknown) => {
        failed = true
        throw error
      })
      if (!found) {
        started--
        return
      }
      processed++
    }
  }
  const alarm: TimerHandle | null = Number.isFinite(end) ? env.timer(Math.max(0, end - env.wall()), () => worker.interruptAll()) : null
  // An error of the store ends it, but not before the runs in hand have ended.
  const slots = await Promise.allSettled(Array.from({ length: concurrency }, work))
  if (alarm !== null) env.clear(alarm)
  for (const slot of slots) if (slot.status === 'rejected') throw slot.reason
  return processed
}
