// The routes of one run: read it, and change it.
import { explain } from '../lifecycle.ts'
import type { Decision } from '../model/effect.ts'
import { checkKeys } from '../model/known-keys.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import { answerRun } from './answer-run.ts'
import { isAllowed } from './authorize.ts'
import type { Call } from './call.ts'
import { commandOptions } from './command-options.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { emptyResponse, jsonResponse } from './json-response.ts'
import { actorOf } from './principal.ts'
import { readBody } from './read-body.ts'
import { shownTo } from './shown-run.ts'
import { ofRun, visibleRun } from './visible-run.ts'

const SIGNAL = { value: 1, idempotencyKey: 1 }
const DECISION = { decision: 1 }

export const getRun = ofRun('runs:read', async (call, run) => answerRun(call, await inFull(call, run)))

export const explainRun = ofRun('runs:read', async (call, { id }) => {
  const { server, request } = call
  const shown = await shownTo(call)
  const see = async (row: RunRow) => {
    const run = toRun(row, server.engine.trigger.codec, server.engine.env.wall())
    return (await isAllowed(server.config.authorize, request, 'runs:read', run)) ? shown.run(run) : null
  }
  return jsonResponse(200, await explain(server.engine, id, see))
})

export const cancelRun = ofRun('runs:cancel', async (call, { id }) =>
  jsonResponse(200, { outcome: await call.server.durably.cancel(id, await commandOptions(call)) }),
)

export const retryRun = ofRun('runs:retry', async (call, { id }) =>
  answerRun(call, await call.server.durably.retry(id, await commandOptions(call))),
)

export const deleteRun = ofRun('runs:delete', async (call, { id }) => {
  await call.server.durably.deleteRun(id, await commandOptions(call))
  return emptyResponse(204)
})

export const sendSignal = ofRun('runs:signal', async (call, { id }) => {
  const { server, request, params } = call
  const body = await readBody(request, server.config)
  checkKeys('the body', body, SIGNAL)
  const { value, idempotencyKey: own } = body
  const options = { ...idempotencyKey(request, 'idempotencyKey', own), ...(await actorOf(call)) }
  await server.durably.signal(id, params.name ?? '', value, options)
  return jsonResponse(202, {})
})

export const sendDecision = ofRun('runs:decide', async (call, { id }) => {
  const { server, request, params } = call
  const body = await readBody(request, server.config)
  checkKeys('the body', body, DECISION)
  const { decision } = body
  await server.durably.decide(id, params.step ?? '', decision as Decision, await actorOf(call))
  return jsonResponse(202, {})
})

/** With what it waits for in full; other runs are named only to callers who may read them (A2). */
async function inFull({ server, request }: Call, run: Run): Promise<Run> {
  const full = await server.engine.reader.inFull(run)
  const { waitingFor } = full
  const isVisible = async (id: string | null) => id === null || (await visibleRun(server, request, id)) !== null
  if (waitingFor?.kind === 'child' && !(await isVisible(waitingFor.runId)))
    return { ...full, waitingFor: { ...waitingFor, runId: null, jobName: null } }
  if (waitingFor?.kind === 'key' && !(await isVisible(waitingFor.heldBy))) return { ...full, waitingFor: { kind: 'key', heldBy: null } }
  return full
}
