import { cluster } from '@coji/durably/cluster'
import { sql } from 'kysely'
import { shownDuration } from '../output/time.ts'
import { bad, type Check, ok, warn } from './finding.ts'

/** A worker with a free slot claims a run within a second. */
const WAITED_MS = 60_000
const JOBS_SHOWN = 5

interface Due {
  jobName: string
  count: number
  oldestMs: number
}

/** Runs that are due and that nobody claims. */
export const checkUnattended: Check = async ({ durably, tables, nowMs }) => {
  const { rows } = await sql<{ job_name: string; count: number | string; oldest: number | string }>`
    SELECT job_name, count(*) AS count, min(run_at) AS oldest FROM ${tables('runs')}
    WHERE status = 'pending' AND run_at <= ${nowMs - WAITED_MS} GROUP BY job_name ORDER BY 3 LIMIT ${JOBS_SHOWN}`.execute(durably.db)
  const due = rows.map(
    ({ job_name, count, oldest }): Due => ({ jobName: job_name, count: Number(count), oldestMs: nowMs - Number(oldest) }),
  )
  if (due.length === 0) return ok('due runs', `no run has waited for longer than ${WAITED_MS / 1000} s for a worker`)
  const workers = (await cluster(durably).workers()).filter(({ isSilent, state }) => !isSilent && state === 'attached')
  const orphans = due.filter(({ jobName }) => !workers.some(({ jobNames }) => jobNames.includes(jobName)))
  const isCertain = workers.length > 0
  if (orphans.length > 0)
    return bad(
      'due runs',
      `${words(orphans)}; ${isCertain ? 'no worker of the register has these jobs' : 'no worker is in the register'}`,
      `start a worker that defines ${orphans.map(({ jobName }) => jobName).join(', ')}: durably worker ./jobs.ts`,
    )
  return warn(
    'due runs',
    `${words(due)}, although workers have these jobs`,
    'all slots are busy, or a concurrency key is held: durably explain <id>; raise --concurrency or start more workers',
  )
}

function words(due: readonly Due[]): string {
  return due.map(({ jobName, count, oldestMs }) => `${count} of ${jobName} for up to ${shownDuration(oldestMs)}`).join(', ')
}
