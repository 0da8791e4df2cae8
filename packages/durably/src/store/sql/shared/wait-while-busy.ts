import { backoffMs } from '../../../model/backoff.ts'
import { type Env, sleep } from '../../../model/env.ts'
import type { DurablyError } from '../../../model/errors.ts'
import { TransactionFailed } from './transaction.ts'

/** A lock held longer than this is not contention but a stuck process: the caller shall know. */
const BUSY_MS_MAX = 5000
const PAUSE_MS_MAX = 50

export interface Busyness<T> {
  env: Env
  attempt(): Promise<T>
  classify(thrown: unknown): DurablyError
  /** True once the store is being closed: then there is no further attempt. */
  isClosing(): boolean
}

/** Tries again while another connection is in the way. Timers, not a busy handler: heartbeats go on meanwhile. */
export async function waitWhileBusy<T>({ env, attempt, classify, isClosing }: Busyness<T>): Promise<T> {
  const began = env.mono()
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (thrown) {
      if (thrown instanceof TransactionFailed) throw thrown
      const error = classify(thrown)
      if (error.code !== 'store_busy' || isClosing() || env.mono() - began >= BUSY_MS_MAX) throw error
      await sleep(env, backoffMs(env, tries, { firstMs: 1, longestMs: PAUSE_MS_MAX }))
    }
  }
}
