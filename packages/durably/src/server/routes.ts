// The table of routes, and which of them matches a path.
import { DurablyError } from '../model/errors.ts'
import { listAudit } from './audit-route.ts'
import type { Serve } from './call.ts'
import { sendEvent } from './inbox-route.ts'
import { listRuns } from './list-runs.ts'
import { manyEvents } from './many-events.ts'
import { cancelRuns, deleteRuns, retryRuns } from './many-runs.ts'
import { runEvents } from './run-events.ts'
import { runListFeed } from './run-list-feed.ts'
import { cancelRun, deleteRun, explainRun, getRun, retryRun, sendDecision, sendSignal } from './run-routes.ts'
import { getLogs, getSteps } from './run-rows.ts'
import {
  deleteSchedule,
  getLeader,
  getNextTimes,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  triggerSchedule,
} from './schedule-routes.ts'
import { getHealth, getJobs, getReady, getStats } from './service-routes.ts'
import { changeSettings, getSettings } from './settings-routes.ts'
import { triggerRuns } from './trigger-route.ts'
import { attachWorker, detachWorker, drainWorker, listWorkers } from './worker-routes.ts'

interface Route {
  path: string
  methods: { readonly [method: string]: Serve }
}

/** The logs of the runs that are named, or else the list of all runs that match. */
const events: Serve = (call) => (call.query.has('run') ? manyEvents(call) : runListFeed(call))

const ROUTES: readonly Route[] = [
  { path: '/runs', methods: { GET: listRuns, POST: triggerRuns } },
  { path: '/runs/cancel', methods: { POST: cancelRuns } },
  { path: '/runs/retry', methods: { POST: retryRuns } },
  { path: '/runs/delete', methods: { POST: deleteRuns } },
  { path: '/runs/:id', methods: { GET: getRun, DELETE: deleteRun } },
  { path: '/runs/:id/explain', methods: { GET: explainRun } },
  { path: '/runs/:id/steps', methods: { GET: getSteps } },
  { path: '/runs/:id/logs', methods: { GET: getLogs } },
  { path: '/runs/:id/events', methods: { GET: runEvents } },
  { path: '/runs/:id/cancel', methods: { POST: cancelRun } },
  { path: '/runs/:id/retry', methods: { POST: retryRun } },
  { path: '/runs/:id/signals/:name', methods: { POST: sendSignal } },
  { path: '/runs/:id/decisions/:step', methods: { POST: sendDecision } },
  { path: '/schedules', methods: { GET: listSchedules } },
  { path: '/schedules/:id', methods: { GET: getSchedule, PUT: putSchedule, DELETE: deleteSchedule } },
  { path: '/schedules/:id/pause', methods: { POST: pauseSchedule } },
  { path: '/schedules/:id/resume', methods: { POST: resumeSchedule } },
  { path: '/schedules/:id/trigger', methods: { POST: triggerSchedule } },
  { path: '/schedules/:id/next', methods: { GET: getNextTimes } },
  { path: '/inbox/:name', methods: { POST: sendEvent } },
  { path: '/settings', methods: { GET: getSettings, PATCH: changeSettings } },
  { path: '/audit', methods: { GET: listAudit } },
  { path: '/workers', methods: { GET: listWorkers } },
  { path: '/workers/:id/attach', methods: { POST: attachWorker } },
  { path: '/workers/:id/drain', methods: { POST: drainWorker } },
  { path: '/workers/:id/detach', methods: { POST: detachWorker } },
  { path: '/leader', methods: { GET: getLeader } },
  { path: '/events', methods: { GET: events } },
  { path: '/jobs', methods: { GET: getJobs } },
  { path: '/stats', methods: { GET: getStats } },
  { path: '/health', methods: { GET: getHealth } },
  { path: '/ready', methods: { GET: getReady } },
]

export interface Match {
  methods: Route['methods']
  params: Record<string, string>
}

/** `null` when no route has this path. */
export function match(pathname: string, basePath: string): Match | null {
  if (basePath !== '' && !pathname.startsWith(`${basePath}/`)) return null
  const segments = pathname.slice(basePath.length).split('/').slice(1)
  for (const { path, methods } of ROUTES) {
    const params = matchSegments(path.split('/').slice(1), segments)
    if (params) return { methods, params }
  }
  return null
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [i, expected] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if (!expected.startsWith(':')) {
      if (segment !== expected) return null
    } else if (segment === '') return null
    else params[expected.slice(1)] = decoded(segment)
  }
  return params
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new DurablyError('invalid_argument', `the path segment ${JSON.stringify(segment)} is not well-formed percent-encoding`)
  }
}
