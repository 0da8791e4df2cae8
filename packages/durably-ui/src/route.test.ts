import { expect, test } from 'vitest'
import { ALL_RUNS, formatRoute, HOME, parseRoute, type Route } from './route.ts'

const ROUTES: Route[] = [
  HOME,
  { page: 'runs', query: { ...ALL_RUNS, search: 'a=b&c ?#', phases: ['failed', 'stale'], jobName: 'x/y', since: '24h', after: '01X' } },
  { page: 'run', id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' },
  { page: 'job', name: 'a/b?c#d %' },
  { page: 'jobs' },
  { page: 'activity' },
  { page: 'schedules' },
  { page: 'workers' },
  { page: 'audit' },
]

test.each(ROUTES)('%j has an address', (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route)
})

test.each(['', '/', '/nothing', '/runs/a/b', 'javascript:alert(1)'])('%j is the first page', (address) => {
  expect(parseRoute(address)).toEqual(HOME)
})

test('what an address has too much is left out', () => {
  expect(parseRoute('/runs?phase=failed&phase=nonsense&since=1y')).toEqual({ page: 'runs', query: { ...ALL_RUNS, phases: ['failed'] } })
  expect(parseRoute('/jobs/%E0%A4%A')).toEqual({ page: 'job', name: '%E0%A4%A' })
})
