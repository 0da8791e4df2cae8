// Runs of jobs that neither this process defines nor a worker that is in the register. Nothing else would say that they wait.
import { iso } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import type { WorkerStore } from '../store/cluster/workers.ts'
import type { RunStore } from '../store/runs.ts'

/** Another worker would have claimed it by then. */
const WAITED_MS = 5000
/** Each is counted by statements of its own. */
const JOBS_MAX = 20

/** A job that has due runs, and that neither this process defines nor a worker of the register that is there. */
export interface UnknownJob {
  /** The name of the job. */
  jobName: string
  /** How many of its runs are due. */
  dueRuns: number
  /** Since when the oldest of them is due, as ISO-8601 text. */
  dueSince: string
  /** How long ago that is, in milliseconds. */
  lagMs: number
}

interface UnknownJobsDeps {
  runs: RunStore
  jobs: ReadonlyMap<string, Job>
  /** Absent if the store has no register. */
  cluster: WorkerStore | undefined
}

export async function unknownJobs({ runs, jobs, cluster }: UnknownJobsDeps): Promise<UnknownJob[]> {
  const elsewhere = await jobsOfWorkers(cluster)
  const names = await runs.dueJobs({ waitedMs: WAITED_MS, except: [...jobs.keys(), ...elsewhere], limit: JOBS_MAX })
  const found = await Promise.all(
    names.map(async (jobName) => {
      const [oldest, counts] = await Promise.all([runs.oldestDue([jobName]), runs.count([jobName])])
      const dueRuns = counts.reduce((sum, { phase, count }) => (phase === 'pending' ? sum + count : sum), 0)
      return oldest ? [{ jobName, dueRuns, dueSince: iso(oldest.runAt), lagMs: oldest.lagMs }] : []
    }),
  )
  return found.flat().sort((a, b) => b.lagMs - a.lagMs)
}

/** A worker that is silent, or that starts nothing, executes none of its jobs. */
async function jobsOfWorkers(cluster: WorkerStore | undefined): Promise<string[]> {
  const workers = (await cluster?.workers()) ?? []
  return workers.flatMap(({ state, expiresInMs, jobNames }) =>
    state === 'attached' && expiresInMs > 0 ? (JSON.parse(jobNames) as string[]) : [],
  )
}
