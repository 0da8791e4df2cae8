// The routes about the server itself: its jobs, its counts, its health.
import type { JobInfo } from '../client/durably-client.ts'
import { isAlive, storeHealth, workerHealth } from '../health.ts'
import type { Serve } from './call.ts'
import { jsonResponse } from './json-response.ts'
import { ofAll } from './visible-run.ts'

export const getJobs = ofAll('jobs:list', async ({ server }) => {
  const jobs = Array.from(server.durably.jobs, ([name, job]): JobInfo => ({ name, input: job.inputSchema() }))
  return jsonResponse(200, { jobs })
})

export const getStats = ofAll('stats:read', async ({ server }) => jsonResponse(200, { counts: await server.durably.countsByPhase() }))

/** Liveness: the worker's loop, without the store. It needs no permission, and shows nothing of runs. */
export const getHealth: Serve = async ({ server: { engine } }) =>
  state(isAlive(engine, workerHealth(engine)) ? [] : ['the worker is stuck; restart the process'])

/** Readiness, likewise: whether this process can do its work now. */
export const getReady: Serve = async ({ server: { engine, config } }) => {
  const { store } = await storeHealth(engine)
  return state([
    ...(store.isReachable ? [] : ['the store does not answer']),
    ...(store.isMigrated === false ? ['the store is not migrated; call durably.migrate()'] : []),
    ...(config.executes && !workerHealth(engine).isStarted ? ['the worker is not started; call durably.start()'] : []),
  ])
}

function state(problems: readonly string[]): Response {
  return problems.length === 0 ? jsonResponse(200, { status: 'ok' }) : jsonResponse(503, { status: 'unavailable', problems })
}
