// The routes about the server itself: its jobs, its counts, its health.
import type { JobInfo } from '../client/durably-client.ts'
import { within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { jsonResponse } from './json-response.ts'
import { ofAll } from './visible-run.ts'

/** A load balancer expects the health within a short time. */
const HEALTH_MS_MAX = 2000
/** An id that no run has. */
const NO_RUN = '0'.repeat(26)

export const getJobs = ofAll('jobs:list', async ({ server }) => {
  const jobs = Array.from(server.durably.jobs, ([name, job]): JobInfo => ({ name, input: job.inputSchema() }))
  return jsonResponse(200, { jobs })
})

export const getStats = ofAll('stats:read', async ({ server }) => jsonResponse(200, { counts: await server.durably.countsByPhase() }))

export const getHealth = ofAll('health:read', async ({ server }) => {
  const { store, env } = server.engine
  const answered = await within(env, HEALTH_MS_MAX, store.runs.get(NO_RUN))
  if (!answered) throw new DurablyError('store_unavailable', `the store did not answer within ${HEALTH_MS_MAX} ms`)
  return jsonResponse(200, { status: 'ok' })
})
