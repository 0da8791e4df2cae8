// Counts in the database, so that a limit holds for all servers together. A window is a fixed part of the clock, such as each full minute.
import type { AppDatabase } from './tables.ts'

export interface Window {
  ms: number
  max: number
}

/**
 * Counts one more. 0 if it is within the limit; else how many milliseconds are left of the window. It counts before anything is done, so requests that come
 * at the same time cannot pass together.
 */
export async function countOne(db: AppDatabase, subject: string, { ms, max }: Window): Promise<number> {
  const now = Date.now()
  const window_start = now - (now % ms)
  const { n } = await db
    .insertInto('agent_counters')
    .values({ subject, window_start, n: 1 })
    .onConflict((conflict) => conflict.columns(['subject', 'window_start']).doUpdateSet((eb) => ({ n: eb('agent_counters.n', '+', 1) })))
    .returning('n')
    .executeTakeFirstOrThrow()
  return n <= max ? 0 : window_start + ms - now
}

export async function forgetCounts(db: AppDatabase, subject: string): Promise<void> {
  await db.deleteFrom('agent_counters').where('subject', '=', subject).execute()
}
