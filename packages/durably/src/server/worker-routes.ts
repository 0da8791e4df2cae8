// The workers in the register.
import type { Serve } from './call.ts'
import { emptyResponse, jsonResponse } from './json-response.ts'
import { actorOf } from './principal.ts'
import { ofAll } from './visible-run.ts'

export const listWorkers = ofAll('cluster:read', async ({ server }) => jsonResponse(200, { workers: await server.durably.workers.list() }))

export const attachWorker = switching('attach')
export const drainWorker = switching('drain')
export const detachWorker = switching('detach')

function switching(verb: 'attach' | 'drain' | 'detach'): Serve {
  return ofAll('cluster:write', async (call) => {
    await call.server.durably.workers[verb](call.params.id ?? '', await actorOf(call))
    return emptyResponse(204)
  })
}
