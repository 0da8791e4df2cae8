// The newest runs that figures are made of: a bounded number, so that it costs the same at a million runs.
import type { DurablyClient, Run } from '@coji/durably/client'
import { RepeatedRead } from '../state/repeated-read.ts'

export const SAMPLE_SIZE = 500
const READ_AGAIN_MS = 10_000

/** Of one job, or of all. */
export function newestRuns(client: DurablyClient, jobName: string | null, changed: () => void): RepeatedRead<readonly Run[]> {
  const filter = { limit: SAMPLE_SIZE, values: false, ...(jobName !== null && { jobName }) }
  return new RepeatedRead<readonly Run[]>(() => client.getRuns(filter), READ_AGAIN_MS, changed)
}
