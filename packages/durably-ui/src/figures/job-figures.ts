// JobFigures — what the newest runs say about each job: how often it ran, how it ended, how long it took.
import type { Run } from '@coji/durably/client'
import { quantile } from './histogram.ts'

export interface JobFigures {
  readonly jobName: string
  /** How many of the sampled runs are of this job. */
  readonly runs: number
  readonly completed: number
  readonly failed: number
  readonly open: number
  /** Of those that ended with success or failure; null if none has. */
  readonly successRate: number | null
  /** Runs per hour, since the oldest of them. */
  readonly perHour: number
  readonly medianMs: number | null
  readonly p95Ms: number | null
  /** Of completed runs, oldest first. */
  readonly durationsMs: readonly number[]
  readonly lastAt: string
}

/** A rate needs some time: three runs in a second are not ten thousand an hour. */
const SHORTEST_MS = 60_000

/** The busiest first. `runs` are the newest first, as a client lists them. */
export function figuresByJob(runs: readonly Run[], now: number): JobFigures[] {
  const byJob = new Map<string, Run[]>()
  for (const run of runs) {
    const same = byJob.get(run.jobName)
    if (same) same.push(run)
    else byJob.set(run.jobName, [run])
  }
  return Array.from(byJob, ([jobName, same]) => figuresOf(jobName, same, now)).sort(
    (a, b) => b.runs - a.runs || a.jobName.localeCompare(b.jobName),
  )
}

function figuresOf(jobName: string, runs: readonly Run[], now: number): JobFigures {
  const count = (status: Run['status']) => runs.filter((run) => run.status === status).length
  const completed = count('completed')
  const failed = count('failed')
  const durationsMs = runs.flatMap((run) => (run.status === 'completed' ? (durationMs(run) ?? []) : [])).reverse()
  const sinceMs = Math.max(SHORTEST_MS, now - Date.parse(runs.at(-1)?.createdAt ?? ''))
  return {
    jobName,
    runs: runs.length,
    completed,
    failed,
    open: count('pending') + count('running'),
    successRate: completed + failed === 0 ? null : completed / (completed + failed),
    perHour: (runs.length * 3_600_000) / sinceMs,
    medianMs: quantile(durationsMs, 0.5),
    p95Ms: quantile(durationsMs, 0.95),
    durationsMs,
    lastAt: runs[0]?.createdAt ?? '',
  }
}

/** From its first start to its end; null before that. */
function durationMs({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)
}
