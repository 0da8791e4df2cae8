// httpClusterClient — a ClusterClient over HTTP. It calls `@coji/durably/server`.
import type { AuditFilter } from '../../cluster/audit.ts'
import type { ElectedProcess } from '../../cluster/leader.ts'
import type { Worker } from '../../cluster/registered-workers.ts'
import type { AuditEntry } from '../../model/audit.ts'
import { wireCodec } from '../../model/codec.ts'
import { systemClock } from '../../model/env.ts'
import { DurablyError, hasCode } from '../../model/errors.ts'
import type { PageOptions } from '../../model/page-options.ts'
import type { Schedule } from '../../model/schedule.ts'
import type { IfVersion } from '../../store/runs.ts'
import { callServer, type HttpCall } from '../http/http-call.ts'
import { query } from '../http/http-pages.ts'
import { type HttpOptions, HttpRequests } from '../http/http-request.ts'
import { refuseOthers } from '../http/refuse-others.ts'
import { isSegment } from '../http/run-path.ts'
import type { ClientSchedules, ClientWorkers, ClusterClient } from './cluster-client.ts'

/** The largest page that a server returns. */
const PAGE_MAX = 200

type Ask = <T>(method: HttpCall['method'], path: string, body?: object, condition?: IfVersion) => Promise<T>

/**
 * A client for people who operate a server and its workers.
 *
 * @example const client = httpClusterClient({ url: '/api/durably' })
 */
export function httpClusterClient(options: HttpOptions): ClusterClient {
  const { env = systemClock(), ...http } = options
  const deps = { env, requests: new HttpRequests(http), codec: wireCodec() }
  const ask: Ask = async <T>(method: HttpCall['method'], path: string, body?: object, { ifVersion, ...others }: IfVersion = {}) => {
    refuseOthers(others)
    const answer = await callServer(deps, {
      method,
      path,
      isSafe: method === 'GET',
      ...(body && { body: deps.codec.encode(body, 'the request') ?? '' }),
      ...(ifVersion !== undefined && { headers: { 'if-match': `"${ifVersion}"` } }),
    })
    return answer as T
  }
  return {
    schedules: schedulesOf(ask),
    workers: workersOf(ask),
    settings: {
      get: () => ask('GET', '/settings'),
      set: (change, condition) => ask('PATCH', '/settings', change, condition),
    },
    audit: { list: (filter) => auditInPages(ask, filter) },
    leader: async () => (await ask<{ leader: ElectedProcess | null }>('GET', '/leader')).leader,
  }
}

function schedulesOf(ask: Ask): ClientSchedules {
  const pathOf = (id: string, verb = '') => `/schedules/${segment('schedule', id)}${verb}`
  return {
    put: async (id, schedule, condition) => ask('PUT', pathOf(id), schedule, condition),
    list: (options) => inPages(ask, options),
    async get(id) {
      try {
        return await ask<Schedule>('GET', pathOf(id))
      } catch (error) {
        if (hasCode(error, 'schedule_not_found')) return null
        throw error
      }
    },
    next: async (id, count = 5) => (await ask<{ times: string[] }>('GET', pathOf(id, `/next?count=${count}`))).times,
    pause: async (id, condition) => ask('POST', pathOf(id, '/pause'), {}, condition),
    resume: async (id, condition) => ask('POST', pathOf(id, '/resume'), {}, condition),
    trigger: async (id, condition) => ask('POST', pathOf(id, '/trigger'), {}, condition),
    delete: async (id, condition) => ask('DELETE', pathOf(id), undefined, condition),
  }
}

function workersOf(ask: Ask): ClientWorkers {
  const post = async (workerId: string, verb: string) => ask<void>('POST', `/workers/${segment('worker', workerId)}/${verb}`, {})
  return {
    list: async () => (await ask<{ workers: Worker[] }>('GET', '/workers')).workers,
    attach: (workerId) => post(workerId, 'attach'),
    drain: (workerId) => post(workerId, 'drain'),
    detach: (workerId) => post(workerId, 'detach'),
  }
}

/** The server limits its pages: more are asked for until there are enough. */
async function inPages(ask: Ask, { limit = Number.POSITIVE_INFINITY, cursor: from, ...others }: PageOptions = {}): Promise<Schedule[]> {
  refuseOthers(others)
  const all: Schedule[] = []
  for (let cursor = from; ; ) {
    const path = `/schedules${query({ limit: Math.min(PAGE_MAX, limit - all.length), cursor })}`
    const { schedules, nextCursor } = await ask<{ schedules: Schedule[]; nextCursor: string | null }>('GET', path)
    all.push(...schedules)
    if (nextCursor === null || all.length >= limit) return all
    cursor = nextCursor
  }
}

/** The same for the audit; `target` is two parameters. */
async function auditInPages(ask: Ask, { target, limit = 100, cursor: from, ...filter }: AuditFilter = {}): Promise<AuditEntry[]> {
  const all: AuditEntry[] = []
  for (let cursor = from; ; ) {
    const asked = { ...filter, ...target, limit: Math.min(PAGE_MAX, limit - all.length), cursor }
    const { entries, nextCursor } = await ask<{ entries: AuditEntry[]; nextCursor: string | null }>('GET', `/audit${query(asked)}`)
    all.push(...entries)
    if (nextCursor === null || all.length >= limit) return all
    cursor = nextCursor
  }
}

function segment(what: 'schedule' | 'worker', id: string): string {
  if (isSegment(id)) return encodeURIComponent(id)
  throw new DurablyError(`${what}_not_found`, `there is no ${what} ${JSON.stringify(id)}`)
}
