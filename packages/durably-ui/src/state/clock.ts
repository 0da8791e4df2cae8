// The one place that knows the time and sets timers.

export function now(): number {
  return Date.now()
}

/** Calls back again and again, until the signal aborts; the next time only after the last call has settled. A hidden page is left alone. */
export async function repeatedly(everyMs: () => number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs(), signal)
    if (!signal.aborted && document.visibilityState === 'visible') await act()
  }
}

/** Resolves at once when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
