import type { Clock } from './env.ts'

/** What `done` resolves to, or nothing once the signal aborts. */
export function unlessAborted<T>(signal: AbortSignal, done: Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    done.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Ends early, and leaves no timer behind, once the signal aborts. */
export function sleepUnlessAborted(env: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = () => {
      env.clear(timer)
      signal.removeEventListener('abort', stop)
      resolve()
    }
    const timer = env.timer(ms, stop)
    signal.addEventListener('abort', stop)
  })
}
