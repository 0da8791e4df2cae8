// The routes of one run: read it, and change it.
import { explain } from '../lifecycle.ts'
import type { Decision } from '../model/effect.ts'
import { checkKeys } from '../model/known-keys.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import { answerRun } from './answer-run.ts'
import { isAllowed } from './authorize.ts'
import type { Call } from './call.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { ifMatch } from './if-match.ts'
import { emptyResponse, jsonResponse } from './json-response.ts'
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

export const cancelRun = ofRun('runs:cancel', async ({ server, request }, { id }) =>
  jsonResponse(200, { outcome: await server.durably.cancel(id, ifMatch(request)) }),
)

export const retryRun = ofRun('runs:retry', async (call, { id }) =>
  answerRun(call, await call.server.durably.retry(id, ifMatch(call.request))),
)

export const deleteRun = ofRun('runs:delete', async ({ server, request }, { id }) => {
  await server.durably.deleteRun(id, ifMatch(request))
  return emptyResponse(204)
})

export const sendSignal = ofRun('runs:signal', async ({ server, request, params }, { id }) => {
  const body = await readBody(request, server.config)
  checkKeys('the body', body, SIGNAL)
  const { value, idempotencyKey: own } = body
  await server.durably.signal(id, params.name ?? '', value, idempotencyKey(request, 'idempotencyKey', own))
  return jsonResponse(202, {})
})

export const sendDecision = ofRun('runs:decide', async ({ server, request, params }, { id }) => {
  const body = await readBody(request, server.config)
  checkKeys('the body', body, DECISION)
  const { decision } = body
  await server.durably.decide(id, params.step ?? '', decision as Decision)
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
