// Runs of jobs that this process does not define. If no other worker does, nothing else would say that they wait.
import { iso } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import type { RunStore } from '../store/runs.ts'

/** Another worker would have claimed it by then. */
const WAITED_MS = 5000
/** Each is counted by statements of its own. */
const JOBS_MAX = 20

/** A job that has due runs, and that this process does not define. */
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

export async function unknownJobs({ runs, jobs }: { runs: RunStore; jobs: ReadonlyMap<string, Job> }): Promise<UnknownJob[]> {
  const names = await runs.dueJobs({ waitedMs: WAITED_MS, except: [...jobs.keys()], limit: JOBS_MAX })
  const found = await Promise.all(
    names.map(async (jobName) => {
      const [oldest, counts] = await Promise.all([runs.oldestDue([jobName]), runs.count([jobName])])
      const dueRuns = counts.reduce((sum, { phase, count }) => (phase === 'pending' ? sum + count : sum), 0)
      return oldest ? [{ jobName, dueRuns, dueSince: iso(oldest.runAt), lagMs: oldest.lagMs }] : []
    }),
  )
  return found.flat().sort((a, b) => b.lagMs - a.lagMs)
}
