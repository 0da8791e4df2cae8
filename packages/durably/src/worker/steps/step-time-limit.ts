import type { Env } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import type { Timeout } from '../lazy-limits.ts'

/**
 * Limits the time of one try of a step, and of what is nested in it: `expired` aborts when that time, or that of the step around it, is
 * over. A function that ignores its signal goes on, but is not waited for.
 */
export function withinStepTime<T>(
  env: Env,
  stepName: string,
  { timeout, timeoutMs }: Timeout,
  outer: AbortSignal | undefined,
  work: (expired?: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const name = JSON.stringify(stepName)
  let expired = outer
  let timer: unknown
  if (timeout !== undefined) {
    const own = new AbortController()
    const error = new DurablyError('timeout', `step ${name} took longer than ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`)
    const endsAt = env.mono() + timeoutMs
    const watch = (leftMs: number) => {
      timer = env.timer(leftMs, () => {
        const nowLeftMs = endsAt - env.mono()
        // A timer may be shorter than it was asked to be (model/env.ts).
        if (nowLeftMs < 1) own.abort(error)
        else watch(nowLeftMs)
      })
    }
    watch(timeoutMs)
    expired = outer ? AbortSignal.any([outer, own.signal]) : own.signal
  }
  if (!expired) return work()
  // Registered before the function's own listeners, so that the timeout is the outcome, whatever the function does with its signal.
  let onAbort = () => {}
  const over = new Promise<never>((_, reject) => {
    onAbort = () => reject(expired.reason)
    expired.addEventListener('abort', onAbort)
  })
  // If the work throws at once, that is a rejection as well: otherwise nobody would hear `over`, and the timer would go on.
  const working = async () => work(expired)
  return Promise.race([over, working()]).finally(() => {
    env.clear(timer)
    // The signal is that of the step around it, which may have many such steps.
    expired.removeEventListener('abort', onAbort)
  })
}
