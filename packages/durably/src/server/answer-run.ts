import type { Run } from '../model/run.ts'
import type { Call } from './call.ts'
import { jsonResponse } from './json-response.ts'
import { shownTo } from './shown-run.ts'

export async function answerRun(call: Call, run: Run): Promise<Response> {
  return jsonResponse(200, (await shownTo(call)).run(run), { ETag: `"${run.version}"` })
}

/** A run that was triggered: now, or before with the same idempotency key. */
export async function answerTriggered(call: Call, run: Run, isNew: boolean): Promise<Response> {
  const location = `${call.server.config.basePath}/runs/${encodeURIComponent(run.id)}`
  return jsonResponse(isNew ? 201 : 200, (await shownTo(call)).run(run), { Location: location, ETag: `"${run.version}"` })
}
