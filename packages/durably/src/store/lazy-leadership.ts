import type { Leadership } from './leadership.ts'

/** Opened when it is first asked for; if that fails, the next one who asks tries again. */
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
