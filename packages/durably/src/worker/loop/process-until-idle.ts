import { type Env, within } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import type { Worker } from './worker.ts'

/** The options of `processUntilIdle`. */
export interface UntilIdleOptions {
  /**
   * When to end (a `Date`, or milliseconds since 1970): then no further run starts, and active ones are asked to stop and given back, as by
   * `stop({ timeout })`. Default: none.
   */
  deadline?: Date | number
  /** How many runs are executed at most. Default: no limit. */
  maxRuns?: number
}

const UNTIL_IDLE: KeysOf<UntilIdleOptions> = { deadline: 1, maxRuns: 1 }

/** Executes runs, `concurrency` at a time, until none is due; returns how many. */
export async function processUntilIdle(
  worker: Worker,
  { env, concurrency }: { env: Env; concurrency: number },
  options: UntilIdleOptions = {},
): Promise<number> {
  checkKeys('processUntilIdle', options, UNTIL_IDLE)
  const { deadline, maxRuns = Number.POSITIVE_INFINITY } = options
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
  // An error of the store ends it, but only after the active runs have ended.
  const ended = Promise.allSettled(Array.from({ length: concurrency }, work))
  const inTime = !Number.isFinite(end) || (await within(env, Math.max(0, end - env.wall()), ended))
  if (!inTime && !(await worker.letGo(ended))) return processed
  for (const slot of await ended) if (slot.status === 'rejected') throw slot.reason
  return processed
}
