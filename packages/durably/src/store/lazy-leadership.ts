import { once } from '../model/lazy.ts'
import type { Leadership } from './leadership.ts'

/** Opened at its first use; if that fails, the next use tries again. */
export function lazyLeadership(open: () => Promise<Leadership>): Leadership {
  const opened = once(open)
  return {
    take: async (signal) => (await opened()).take(signal),
    takeIfFree: async () => (await opened()).takeIfFree(),
  }
}
