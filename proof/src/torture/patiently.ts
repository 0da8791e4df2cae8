import { setTimeout as sleep } from 'node:timers/promises'

const AWAY_MS_MAX = 30_000
const AGAIN_MS = 50

/** Asks again while the database is away. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() - began > AWAY_MS_MAX) throw error
      await sleep(AGAIN_MS)
    }
  }
}
