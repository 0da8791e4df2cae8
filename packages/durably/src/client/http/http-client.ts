// httpClient — a DurablyClient over HTTP. It calls `@coji/durably/server`, on any number of machines.

import { checkSubscription } from '../../model/check-subscription.ts'
import { wireCodec } from '../../model/codec.ts'
import { systemClock } from '../../model/env.ts'
import { hasCode } from '../../model/errors.ts'
import type { Phase } from '../../model/phase.ts'
import { pulled } from '../../model/pulled.ts'
import type { Run } from '../../model/run.ts'
import type { RunFilter } from '../../model/run-filter.ts'
import { checkWatchFilter } from '../../model/run-filter.ts'
import type { ManyRunsOutcome } from '../../runs/many-runs.ts'
import type { CancelOutcome, IfVersion } from '../../store/runs.ts'
import type { AnyJobs, DurablyClient, JobInfo, Jobs, UntypedClient } from '../durably-client.ts'
import { callServer, type HttpCall } from './http-call.ts'
import { inPages, type Listed, type Page, query } from './http-pages.ts'
import { type HttpOptions, HttpRequests } from './http-request.ts'
import { PageVisibility } from './page-visibility.ts'
import { refuseOthers } from './refuse-others.ts'
import { RunListFeeds } from './run-list-feed.ts'
import { runPath } from './run-path.ts'
import { RunStreams } from './run-streams.ts'

/**
 * A client for the runs of a server.
 *
 * @example const client = httpClient<typeof jobs>({ url: '/api/durably' })
 */
export function httpClient<TJobs extends Jobs = AnyJobs>(options: HttpOptions): DurablyClient<TJobs> {
  return clientOf(options) as DurablyClient<TJobs>
}

function clientOf(options: HttpOptions): UntypedClient {
  const { env = systemClock(), ...http } = options
  const deps = { env, requests: new HttpRequests(http), codec: wireCodec(), page: new PageVisibility(env) }
  const streams = new RunStreams(deps)
  const feeds = new RunListFeeds(deps)

  const call = <T>(call: HttpCall) => callServer(deps, call) as Promise<T>
  const get = <T>(path: string, runId?: string) => call<T>({ method: 'GET', path, runId, isSafe: true })
  const post = <T>(path: string, body: object, rest: Partial<HttpCall> = {}) =>
    call<T>({ method: 'POST', path, body: deps.codec.encode(body, 'the request') ?? '', ...rest })
  const ofRun = <T>(runId: string, ...rest: string[]) => get<T>(runPath(runId, ...rest), runId)
  const list = <K extends keyof Listed>(field: K, path: string, filter?: RunFilter, runId?: string) =>
    inPages(field, (asked) => get<Page>(path + asked, runId), filter)

  /** The server changes a part of the runs with each request. One that is sent again could change more than its answer says, so none is. */
  const many =
    (verb: string): UntypedClient['cancelRuns'] =>
    async (filter, { limit = Number.POSITIVE_INFINITY, ...options } = {}) => {
      for (let count = 0, cursor = options.cursor ?? null; ; ) {
        const done = await post<ManyRunsOutcome>(`/runs/${verb}`, { ...options, filter, limit: limit - count, cursor })
        count += done.count
        cursor = done.cursor
        if (cursor === null || count >= limit) return { count, cursor }
      }
    }

  return {
    trigger: async (job, input, options) => post('/runs', { job, input, ...(options && { options }) }, { isSafe: hasKey(options) }),
    async batchTrigger(job, inputs) {
      if (inputs.length === 0) return []
      const isSafe = inputs.every(({ options }) => hasKey(options))
      const { runs } = await post<{ runs: Run[] }>('/runs', { job, batch: [...inputs] }, { isSafe })
      return runs
    },
    getRun: (id) => unlessNotFound(null, async () => ofRun<Run>(id)),
    getRuns: (filter) => list('runs', '/runs', filter),
    explain: async (id) => ofRun(id, 'explain'),
    getSteps: (id, options) => unlessNotFound([], async () => list('steps', runPath(id, 'steps'), options, id)),
    getLogs: (id, options) => unlessNotFound([], async () => list('logs', runPath(id, 'logs'), options, id)),
    getJobs: async () => (await get<{ jobs: JobInfo[] }>('/jobs')).jobs,
    countsByPhase: async () => (await get<{ counts: Record<Phase, number> }>('/stats')).counts,
    async cancel(id, options) {
      const { outcome } = await post<{ outcome: CancelOutcome['outcome'] }>(runPath(id, 'cancel'), {}, aboutRun(id, options))
      return outcome
    },
    retry: async (id, options) => post(runPath(id, 'retry'), {}, aboutRun(id, options)),
    deleteRun: async (id, options) => call({ method: 'DELETE', path: runPath(id), ...aboutRun(id, options) }),
    cancelRuns: many('cancel'),
    retryRuns: many('retry'),
    deleteRuns: many('delete'),
    async signal(id, name, value, options) {
      await post(runPath(id, 'signals', name), { value, ...options }, { isSafe: hasKey(options), runId: id })
    },
    async decide(id, stepName, decision) {
      await post(runPath(id, 'decisions', stepName), { decision }, { runId: id })
    },
    subscribe(runId, { after = 0, signal, onConnection, ...others } = {}) {
      refuseOthers(others)
      checkSubscription(runId, after)
      return pulled((closed) => streams.events(runId, after, onConnection, closed), signal)
    },
    watchRuns(filter = {}, { signal, onConnection, ...others } = {}) {
      refuseOthers(others)
      checkWatchFilter(filter)
      const path = `/events${query(filter)}`
      return pulled((closed) => feeds.pages(path, onConnection, closed), signal)
    },
  }
}

/** A request with a key can be sent again: the server recognizes it. */
function hasKey(options: { idempotencyKey?: string } | undefined): boolean {
  return options?.idempotencyKey !== undefined
}

function aboutRun(runId: string, { ifVersion, ...others }: IfVersion = {}): Pick<HttpCall, 'runId' | 'headers'> {
  refuseOthers(others)
  return { runId, ...(ifVersion !== undefined && { headers: { 'if-match': `"${ifVersion}"` } }) }
}

async function unlessNotFound<T, U>(otherwise: U, ask: () => Promise<T>): Promise<T | U> {
  try {
    return await ask()
  } catch (error) {
    if (hasCode(error, 'run_not_found')) return otherwise
    throw error
  }
}
