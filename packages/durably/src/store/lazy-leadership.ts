import type { Leadership } from './leadership.ts'

/** Opened at its first use; if that fails, the next use tries again. */
export function lazyLeadership(open: () => Promise<Leadership>): Leadership {
  let opening: Promise<Leadership> | null = null
  const opened = () => {
    opening ??= open().catch((error) => {
      opening = null
      throw error
    })
    return opening
  }
  return {
    take: async (signal) => (await opened()).take(signal),
    takeIfFree: async () => (await opened()).takeIfFree(),
  }
}
