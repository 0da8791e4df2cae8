// POST /runs/cancel, /runs/retry and /runs/delete: the runs that match a filter, a part of them with each request. Runs that the caller may not
// read or change are left as they are, as if there were none.
import { DurablyError } from '../model/errors.ts'
import { checkKeys } from '../model/known-keys.ts'
import type { Run } from '../model/run.ts'
import type { RunConditions } from '../model/run-filter.ts'
import { lazyManyRuns } from '../runs/lazy-many-runs.ts'
import type { ManyRunsOptions, ManyRunsVerb } from '../runs/many-runs.ts'
import { type Action, isAllowed } from './authorize.ts'
import type { Serve } from './call.ts'
import { jsonResponse } from './json-response.ts'
import { actorOf, principalOf, withOwnKeys } from './principal.ts'
import { isPlainObject, readBody } from './read-body.ts'
import { ofAll } from './visible-run.ts'

/** Each of them is authorized and changed by itself; a request must be answered before its client gives up. */
const LOOKS_MAX = 100
const FIELDS = { filter: 1, limit: 1, cursor: 1 }

export const cancelRuns = manyRuns('cancelRuns', 'runs:cancel')
export const retryRuns = manyRuns('retryRuns', 'runs:retry')
export const deleteRuns = manyRuns('deleteRuns', 'runs:delete')

function manyRuns(verb: ManyRunsVerb, action: Action): Serve {
  return ofAll('runs:list', async (call) => {
    const { server, request } = call
    const body = await readBody(request, server.config)
    checkKeys(verb, body, FIELDS)
    const { filter, limit, cursor } = body
    if (!isPlainObject(filter)) throw new DurablyError('invalid_argument', `${verb} needs a filter, which is an object; {} means all runs`)
    const options = { ...(limit != null && { limit }), ...(cursor != null && { cursor }), ...(await actorOf(call)) } as ManyRunsOptions
    const may = (what: Action, run: Run) => isAllowed(server.config.authorize, request, what, run)
    const bounds = { looksMax: LOOKS_MAX, mayChange: async (run: Run) => (await may('runs:read', run)) && may(action, run) }
    const conditions: RunConditions = withOwnKeys(await principalOf(call), filter)
    return jsonResponse(200, await lazyManyRuns(server.engine, verb, conditions, options, bounds))
  })
}
