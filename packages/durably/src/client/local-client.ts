// LocalClient — a DurablyClient of the instance itself, in the process or the tab that has it.

import { DurablyError } from '../model/errors.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import type { JobHandle } from '../runs/job-handle.ts'
import type { SubscribeOptions } from '../runs/subscribe.ts'
import type { WatchFilter, WatchOptions } from '../runs/watch-runs.ts'
import { connectionReporter } from './connection-reporter.ts'
import type { AnyJobs, DurablyClient, FollowOptions, Jobs, UntypedClient } from './durably-client.ts'

/** The part of `Durably` that a local client needs. */
export interface LocalDurably extends Omit<DurablyClient, 'trigger' | 'batchTrigger' | 'getJobs' | 'subscribe' | 'watchRuns'> {
  /** The jobs that are defined on the instance, by name. */
  readonly jobs: ReadonlyMap<string, JobHandle<string, unknown, unknown>>
  /** Follows the events of a run, like `Durably.subscribe`. */
  subscribe(runId: string, options?: SubscribeOptions): AsyncIterable<RunLogEvent>
  /** Yields the newest runs that match, like `Durably.watchRuns`. */
  watchRuns(filter?: WatchFilter, options?: WatchOptions): AsyncIterable<readonly Run[]>
}

/**
 * The interface of a client, directly on an instance.
 *
 * @example const client = localClient<typeof jobs>(durably)
 */
export function localClient<TJobs extends Jobs = AnyJobs>(durably: LocalDurably): DurablyClient<TJobs> {
  return clientOf(durably) as DurablyClient<TJobs>
}

function clientOf(durably: LocalDurably): UntypedClient {
  const jobNamed = (name: string) => {
    const job = durably.jobs.get(name)
    if (!job) throw new DurablyError('job_not_found', `there is no job ${JSON.stringify(name)} on this instance; define it with defineJob`)
    return job
  }
  return {
    trigger: async (jobName, input, options) => jobNamed(jobName).trigger(input, options),
    batchTrigger: async (jobName, inputs) => jobNamed(jobName).batchTrigger([...inputs]),
    getRun: (id) => durably.getRun(id),
    getRuns: (filter) => durably.getRuns(filter),
    explain: (runId) => durably.explain(runId),
    getSteps: (runId, options) => durably.getSteps(runId, options),
    getLogs: (runId, options) => durably.getLogs(runId, options),
    getJobs: async () => Array.from(durably.jobs.values(), (job) => ({ name: job.name, input: job.inputSchema() })),
    countsByPhase: () => durably.countsByPhase(),
    cancel: (id, options) => durably.cancel(id, options),
    retry: (id, options) => durably.retry(id, options),
    deleteRun: (id, options) => durably.deleteRun(id, options),
    cancelRuns: (filter, options) => durably.cancelRuns(filter, options),
    retryRuns: (filter, options) => durably.retryRuns(filter, options),
    deleteRuns: (filter, options) => durably.deleteRuns(filter, options),
    signal: (runId, name, value, options) => durably.signal(runId, name, value, options),
    decide: (runId, stepName, decision) => durably.decide(runId, stepName, decision),
    subscribe: (runId, { onConnection, ...options } = {}) => live(durably.subscribe(runId, options), onConnection),
    watchRuns: (filter, { onConnection, ...options } = {}) => live(durably.watchRuns(filter, options), onConnection),
  }
}

/** The state is always `live`: there is no connection that could break. */
function live<T>(iterable: AsyncIterable<T>, onConnection: FollowOptions['onConnection']): AsyncIterable<T> {
  connectionReporter(onConnection)('live')
  return iterable
}
