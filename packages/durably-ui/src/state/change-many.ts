// Cancels, retries or deletes all runs that match, a hundred at a time, so that the page can count and somebody can stop it.
import type { DurablyClient, RunConditions } from '@coji/durably/client'

export type ManyVerb = 'cancelRuns' | 'retryRuns' | 'deleteRuns'

const AT_ONCE = 100

/** Resolves to how many were changed. */
export async function changeMany(
  client: DurablyClient,
  verb: ManyVerb,
  conditions: RunConditions,
  { signal, progress }: { signal: AbortSignal; progress: (count: number) => void },
): Promise<number> {
  let count = 0
  for (let cursor: string | null = ''; cursor !== null && !signal.aborted; ) {
    const done: { count: number; cursor: string | null } = await client[verb](conditions, { limit: AT_ONCE, ...(cursor && { cursor }) })
    count += done.count
    cursor = done.cursor
    progress(count)
  }
  return count
}
