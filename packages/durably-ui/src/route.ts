// Route — which page of the dashboard is shown, and its place in an address.
import type { Phase } from '@coji/durably/client'
import { isPhase } from './words/phase.ts'

export type Route =
  | { readonly page: 'runs'; readonly query: RunsQuery }
  | { readonly page: 'run'; readonly id: string }
  | { readonly page: 'jobs' }
  | { readonly page: 'job'; readonly name: string }
  | { readonly page: 'activity' }
  | { readonly page: 'schedules' }
  | { readonly page: 'workers' }
  | { readonly page: 'audit' }

export interface RunsQuery {
  readonly search: string
  readonly phases: readonly Phase[]
  readonly jobName: string | null
  readonly since: Since | null
  /** The page after this run, or before it; the newest runs without either. */
  readonly after: string | null
  readonly before: string | null
}

/** Only runs that were triggered in this time. */
export const SINCE_MS = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const
export type Since = keyof typeof SINCE_MS

export const ALL_RUNS: RunsQuery = { search: '', phases: [], jobName: null, since: null, after: null, before: null }
export const HOME: Route = { page: 'runs', query: ALL_RUNS }

export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'runs':
      return `/runs${formatQuery(route.query)}`
    case 'run':
      return `/runs/${encodeURIComponent(route.id)}`
    case 'job':
      return `/jobs/${encodeURIComponent(route.name)}`
    default:
      return `/${route.page}`
  }
}

/** An address that is not one of the dashboard is its first page. */
export function parseRoute(address: string): Route {
  const [path = '', query = ''] = address.split(/\?(.*)/s)
  const [, page, name] = /^\/([a-z]+)(?:\/([^/]+))?$/.exec(path) ?? []
  if (page === 'runs')
    return name === undefined ? { page, query: parseQuery(new URLSearchParams(query)) } : { page: 'run', id: decoded(name) }
  if (page === 'jobs') return name === undefined ? { page } : { page: 'job', name: decoded(name) }
  if (page === 'activity' || page === 'schedules' || page === 'workers' || page === 'audit') return { page }
  return HOME
}

function formatQuery({ search, phases, jobName, since, after, before }: RunsQuery): string {
  const query = new URLSearchParams()
  if (search) query.set('q', search)
  for (const phase of phases) query.append('phase', phase)
  if (jobName !== null) query.set('job', jobName)
  if (since) query.set('since', since)
  if (after) query.set('after', after)
  if (before) query.set('before', before)
  return query.size > 0 ? `?${query}` : ''
}

function parseQuery(query: URLSearchParams): RunsQuery {
  const since = query.get('since') ?? ''
  return {
    search: query.get('q') ?? '',
    phases: query.getAll('phase').filter(isPhase),
    jobName: query.get('job'),
    since: Object.hasOwn(SINCE_MS, since) ? (since as Since) : null,
    after: query.get('after'),
    before: query.get('before'),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
