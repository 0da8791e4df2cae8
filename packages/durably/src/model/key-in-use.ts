// Which run has a concurrency key: while one has it, no other run of that key is claimed. SQL says the same in `guards.ts`.
import type { RunRow } from './run.ts'

type Facts = Pick<RunRow, 'status' | 'concurrencyKey' | 'holdKey' | 'leaseGeneration' | 'retryGeneration'>

/** A pending run that holds its key: triggered with `holdKey`, and claimed since then or since its last `retry()`. */
export function holdsKey({ status, holdKey, leaseGeneration, retryGeneration }: Omit<Facts, 'concurrencyKey'>): boolean {
  return holdKey && status === 'pending' && leaseGeneration > retryGeneration
}

/** The key that the run has; null if it has none now. */
export function keyInUse(row: Facts): string | null {
  return row.status === 'running' || holdsKey(row) ? row.concurrencyKey : null
}
