import type { Worker } from '@coji/durably/cluster'
import { countRunsOf, jobNames, type Source } from './job-names.ts'
import { misspelt } from './nearest.ts'
import { countedUpTo } from './output/plural.ts'

const NAMES_MAX = 500
const COUNTED_MAX = 10_000

/** Asks whether a job that no worker has was meant to be another one, which has runs or a worker; null if none is near. */
export async function otherJobMeant(source: Source, jobName: string, workers: readonly Worker[]): Promise<string | null> {
  const ofWorkers = workers.flatMap(({ jobNames }) => jobNames)
  const name = misspelt(jobName, [...new Set([...ofWorkers, ...(await jobNames(source, NAMES_MAX))])])
  if (name === undefined) return null
  const count = await countRunsOf(source, name, COUNTED_MAX)
  const known = count === 0 ? 'a worker has that job' : countedUpTo(COUNTED_MAX, count, 'run has that name', 'runs have that name')
  return `did somebody mean ${JSON.stringify(name)}? ${known}`
}
