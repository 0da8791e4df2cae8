import { type Duration, durationMs } from '../../model/duration.ts'
import type { Env } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'

/**
 * The time of one try of a step, and of what is nested in it: `late` aborts when it is over, or that of the step around it.
 * A function that ignores its signal goes on, but nobody waits for it.
 */
export function withinStepTime<T>(
  env: Env,
  stepName: string,
  timeout: Duration | undefined,
  outer: AbortSignal | undefined,
  work: (late?: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const name = JSON.stringify(stepName)
  let late = outer
  let timer: unknown
  if (timeout !== undefined) {
    const own = new AbortController()
    const error = new DurablyError('timeout', `step ${name} took longer than ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`)
    timer = env.timer(durationMs(`timeout of step ${name}`, timeout), () => own.abort(error))
    late = outer ? AbortSignal.any([outer, own.signal]) : own.signal
  }
  if (!late) return work()
  // It listens first: what the function makes of its signal comes second.
  const over = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason)))
  return Promise.race([over, work(late)]).finally(() => env.clear(timer))
}
