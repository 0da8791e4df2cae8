import { type Env, sleep } from '../../../../model/env.ts'
import { classifyError } from './classify-error.ts'

/** A lock held longer than this is not contention but a stuck process: the caller shall know. */
export const BUSY_MS_MAX = 5000
const PAUSE_MS_MAX = 50

/** Tries again while another connection holds the lock. Timers, not a busy handler: heartbeats go on meanwhile. */
export async function waitWhileBusy<T>(env: Env, attempt: () => Promise<T>, isHurried: () => boolean): Promise<T> {
  const began = env.mono()
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (thrown) {
      const error = classifyError(thrown)
      if (error.code !== 'store_busy' || isHurried() || env.mono() - began >= BUSY_MS_MAX) throw error
      await sleep(env, Math.min(PAUSE_MS_MAX, 2 ** tries) * (0.5 + env.random() / 2))
    }
  }
}
