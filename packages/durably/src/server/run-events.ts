// GET /runs/:id/events: the event log of one run as a stream, from a cursor, then live, until the run has ended.
import { isAllowed } from './authorize.ts'
import type { Call } from './call.ts'
import { principalOf } from './principal.ts'
import { queryParameter } from './query.ts'
import { openRunStream } from './run-stream.ts'
import { shownTo } from './shown-run.ts'
import { visibleRun } from './visible-run.ts'

export async function runEvents(call: Call): Promise<Response> {
  const { server, request, query, params } = call
  const { engine, connections, config } = server
  const runId = params.id ?? ''
  // Refuses one that is given twice.
  queryParameter(query, 'after')
  const seen = await visibleRun(server, request, runId)
  const shown = await shownTo(call)
  return openRunStream(
    { engine, connections, onError: config.onError },
    request,
    { runId, row: seen?.row ?? null },
    {
      messages: (event) => [{ data: shown.event(event) }],
      last: (how) => (how === 'gone' || how === 'denied' ? { event: how, data: {} } : { event: 'done', data: { status: how } }),
      principal: (await principalOf(call)) ?? '',
      mayRead: () => isAllowed(config.authorize, request, 'runs:read', seen?.run),
    },
  )
}
