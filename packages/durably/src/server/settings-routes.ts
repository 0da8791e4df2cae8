// The settings of all processes.
import type { ClusterSettings, SettingsChange } from '../index.ts'
import type { Call } from './call.ts'
import { ifMatch } from './if-match.ts'
import { jsonResponse } from './json-response.ts'
import { principalOf } from './principal.ts'
import { readBody } from './read-body.ts'
import { ofAll } from './visible-run.ts'

export const getSettings = ofAll('settings:read', async ({ server }) => answer(await server.durably.settings.get()))

/** The principal is the actor, if the server knows its principals. */
export const changeSettings = ofAll('settings:write', async (call: Call) => {
  const { server, request } = call
  const change = (await readBody(request, server.config)) as SettingsChange
  const actor = await principalOf(call)
  return answer(await server.durably.settings.set(change, { ...ifMatch(request), ...(actor && { actor }) }))
})

function answer(settings: ClusterSettings): Response {
  return jsonResponse(200, settings, { ETag: `"${settings.version}"` })
}
