// Runs of a job that this worker does not know wait for another worker. If there is none, nothing else would explain why they do not start.
import type { Engine } from '../engine.ts'
import type { DurablyLogger } from '../logging/logger.ts'
import type { TimerHandle } from '../model/env.ts'
import { tell } from '../model/tell.ts'

const EVERY_MS = 10_000
/** Another worker would have claimed it by then. */
const WAITED_MS = 5000
/** Reported in one look; the others follow with the next ones. */
const JOBS_MAX = 20

export function watchWaitingJobs({ env, store, jobs }: Engine, logger: DurablyLogger, left: AbortSignal): void {
  const reported = new Set<string>()
  let timer: TimerHandle
  const again = () => {
    timer = env.timer(EVERY_MS, () => void look().finally(() => left.aborted || again()), Number.POSITIVE_INFINITY)
  }
  const look = async () => {
    // An error of the store is the worker's to report.
    const request = { waitedMs: WAITED_MS, except: [...jobs.keys(), ...reported], limit: JOBS_MAX }
    for (const jobName of await store.runs.dueJobs(request).catch(() => [])) {
      reported.add(jobName)
      const runs = `runs of job ${JSON.stringify(jobName)}`
      tell(() => logger.warn(`durably: ${runs} wait, but this worker does not define that job; define it here or start a worker that does`))
    }
  }
  again()
  left.addEventListener('abort', () => env.clear(timer))
}
