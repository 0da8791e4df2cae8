// What a run is doing, in the words of the page. It comes from the run's status and its log only: a connection that breaks changes nothing.
import type { LiveRun } from './chat.ts'

export type Phase =
  /** No worker has begun it. */
  | 'queued'
  | 'working'
  /** Its worker is gone, and another one has not continued it yet. */
  | 'restarting'
  /** It waits for a time, such as that of the next call after a failure of the model's server. */
  | 'paused'
  /** A tool waits until somebody approves or denies it. */
  | 'approval'
  | 'stopping'
  | 'completed'
  | 'failed'
  | 'cancelled'

export function phaseOf({ log, status, isStopping }: Pick<LiveRun, 'log' | 'status' | 'isStopping'>): Phase {
  if (log.done) return log.done
  if (status !== 'queued' && status !== 'running') return status
  if (isStopping) return 'stopping'
  const last = log.attempts.at(-1)
  // The page has not read the log yet.
  if (!last) return status === 'running' ? 'working' : 'queued'
  if (last.end?.reason === 'waits') return log.steps.some(({ approval }) => approval?.isApproved === null) ? 'approval' : 'paused'
  if (last.end) return 'restarting'
  return log.retry ? 'paused' : 'working'
}

export function isActive(run: Pick<LiveRun, 'log' | 'status' | 'isStopping'>): boolean {
  return !['completed', 'failed', 'cancelled'].includes(phaseOf(run))
}

/** A worker was lost or shut down, and another one goes on. */
export function wasRestarted({ log }: Pick<LiveRun, 'log'>): boolean {
  return log.attempts.some(({ end }, i) => i < log.attempts.length - 1 && end !== null && end.reason !== 'waits')
}
