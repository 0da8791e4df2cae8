import type { Worker } from '@coji/durably/cluster'
import { countRunsOf, jobNames, type Source } from './job-names.ts'
import { misspelt } from './nearest.ts'
import { countedUpTo } from './output/plural.ts'

const NAMES_MAX = 500
const COUNTED_MAX = 10_000

/** A job that may have been meant instead of one that no worker has. */
export interface LikelyJob {
  name: string
  /** Why it is likely: who has that name. */
  known: string
}

/** A job whose name is near, and which has runs or a worker; null if there is none. */
export async function likelyJob(source: Source, jobName: string, workers: readonly Worker[]): Promise<LikelyJob | null> {
  const ofWorkers = workers.flatMap(({ jobNames }) => jobNames)
  const name = misspelt(jobName, [...new Set([...ofWorkers, ...(await jobNames(source, NAMES_MAX))])])
  if (name === undefined) return null
  const count = await countRunsOf(source, name, COUNTED_MAX)
  return {
    name,
    known: count === 0 ? 'a worker has that job' : countedUpTo(COUNTED_MAX, count, 'run has that name', 'runs have that name'),
  }
}
