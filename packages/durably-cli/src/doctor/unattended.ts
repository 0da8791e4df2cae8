import type { Worker } from '@coji/durably/cluster'
import { likelyJob } from '../misspelt-job.ts'
import { shownDuration } from '../output/time.ts'
import { workersAtWork, workersWith } from '../register.ts'
import { bad, type Check, ok, type Patient, warn } from './finding.ts'
import { type DueRun, RUNS_MAX } from './pending-runs.ts'

/** A worker with a free slot claims a run within a second. */
export const WAITED_MS = 60_000
const JOBS_SHOWN = 5

/** The runs of one job. */
interface Due {
  jobName: string
  count: number
  oldest: DueRun
}

/** Runs that are due and that nobody claims, although no other run has their key. */
export const checkUnattended: Check = async (patient) => {
  const { durably, pending, commands, nowMs } = patient
  const due = byJob((await pending.due(WAITED_MS)).filter(({ holderId }) => holderId === null)).slice(0, JOBS_SHOWN)
  const [first] = due
  if (!first) return ok('due runs', `no run has waited for longer than ${WAITED_MS / 1000} s for a worker`)
  const workers = await workersAtWork(durably)
  const orphans = due.filter(({ jobName }) => workersWith(workers, jobName).length === 0)
  const [orphan] = orphans
  if (orphan) {
    const why = workers.length > 0 ? 'no worker of the register has these jobs' : 'no worker is in the register'
    return bad(
      'due runs',
      [`${words(orphans, nowMs)}; ${why}`, ...(await meant(patient, orphans, workers))].join('; '),
      `start a worker: ${commands.worker(orphans.map(({ jobName }) => jobName))}\nor see more: ${commands.explain(orphan.oldest.id)}`,
    )
  }
  return warn(
    'due runs',
    `${words(due, nowMs)}, although workers have these jobs`,
    `all slots are busy: raise --concurrency or start more workers\nor see more: ${commands.explain(first.oldest.id)}`,
  )
}

/** The job of the oldest run first. */
function byJob(runs: readonly DueRun[]): Due[] {
  const jobs = new Map<string, Due>()
  for (const run of runs) {
    const due = jobs.get(run.jobName) ?? { jobName: run.jobName, count: 0, oldest: run }
    due.count++
    jobs.set(run.jobName, due)
  }
  return [...jobs.values()]
}

function words(due: readonly Due[], nowMs: number): string {
  return due
    .map(({ jobName, count, oldest: { id, sinceMs } }) => {
      const shown = count < RUNS_MAX ? count : `${RUNS_MAX} or more`
      return `${shown} of ${jobName} for up to ${shownDuration(nowMs - sinceMs)} (${count === 1 ? '' : 'oldest '}${id})`
    })
    .join(', ')
}

async function meant({ durably, place }: Patient, orphans: readonly Due[], workers: readonly Worker[]): Promise<string[]> {
  const asked: string[] = []
  for (const { jobName } of orphans) {
    const likely = await likelyJob({ durably, place }, jobName, workers)
    if (likely) asked.push(`${jobName} may be a misspelling of ${JSON.stringify(likely.name)}: ${likely.known}`)
  }
  return asked
}
