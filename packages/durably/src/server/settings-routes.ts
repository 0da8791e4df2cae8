// The settings of all processes.
import type { ClusterSettings, SettingsChange } from '../index.ts'
import type { Call } from './call.ts'
import { commandOptions } from './command-options.ts'
import { jsonResponse } from './json-response.ts'
import { readBody } from './read-body.ts'
import { ofAll } from './visible-run.ts'

export const getSettings = ofAll('settings:read', async ({ server }) => answer(await server.durably.settings.get()))

export const changeSettings = ofAll('settings:write', async (call: Call) => {
  const { server, request } = call
  const change = (await readBody(request, server.config)) as SettingsChange
  return answer(await server.durably.settings.set(change, await commandOptions(call)))
})

function answer(settings: ClusterSettings): Response {
  return jsonResponse(200, settings, { ETag: `"${settings.version}"` })
}
