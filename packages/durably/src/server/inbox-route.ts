// POST /inbox/:name: sends an event.
//   202: it is stored. 200: an event with its dedupeKey was sent before.
import { checkKeys } from '../model/known-keys.ts'
import { forbidden } from './authorize.ts'
import type { Serve } from './call.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { jsonResponse } from './json-response.ts'
import { principalOf, withOwnKeys } from './principal.ts'
import { readBody } from './read-body.ts'

const BODY = { data: 1, dedupeKey: 1 }

/** Keys are stored per principal, so that no principal can use up the key of another. */
export const sendEvent: Serve = async (call) => {
  const { server, request, params } = call
  const name = params.name ?? ''
  if ((await server.config.authorize(request, 'events:send', undefined, undefined, undefined, name)) !== true)
    throw forbidden('events:send')
  const body = await readBody(request, server.config)
  checkKeys('the body', body, BODY)
  const given = idempotencyKey(request, 'dedupeKey', body.dedupeKey)
  const { idempotencyKey: dedupeKey } = withOwnKeys(await principalOf(call), given)
  const sent = await server.durably.send(name, body.data, dedupeKey === undefined ? {} : { dedupeKey })
  return jsonResponse(sent.isNew ? 202 : 200, sent)
}
