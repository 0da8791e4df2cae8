// GET /runs/:id/events: the event log of one run as a stream, from a cursor, then live, until the run has ended.
import { ahead } from '../events/event-log-reader.ts'
import { FollowedLogs } from '../events/followed-logs.ts'
import { DurablyError } from '../model/errors.ts'
import { isTerminal, type RunRow } from '../model/run.ts'
import { isAllowed } from './authorize.ts'
import type { Call, Server } from './call.ts'
import { frame } from './event-stream.ts'
import { emptyResponse } from './json-response.ts'
import { type LogFrames, LogSource } from './log-source.ts'
import { DENIED, openEventStream } from './open-event-stream.ts'
import { queryParameter } from './query.ts'
import { shownTo } from './shown-run.ts'
import { noSuchRun, visibleRun } from './visible-run.ts'

const FRAMES: LogFrames = {
  event: (event) => frame(event, { id: event.sequence }),
  done: (_, status) => frame({ status }, { event: 'done' }),
  gone: () => frame({}, { event: 'gone' }),
}

export async function runEvents(call: Call): Promise<Response> {
  const { server, request, query, params } = call
  const runId = params.id ?? ''
  const after = readCursor('the cursor', request.headers.get('Last-Event-ID') || queryParameter(query, 'after') || '0')
  demandEventLog(server)
  const seen = await visibleRun(server, request, runId)
  if (!seen) throw after > 0 ? deleted(runId) : noSuchRun(runId)
  const { row, run } = seen
  if (after > row.lastEventSequence) throw ahead(row, after)
  // 204 tells EventSource not to reconnect.
  if (isTerminal(row.status) && after === row.lastEventSequence) return emptyResponse(204)
  await demandArchive(server, row, after)
  const logs = new FollowedLogs(server.engine.follow, [{ runId, after }], { watchesBetweenPages: true })
  const source = new LogSource(logs, FRAMES, await shownTo(call))
  return openEventStream(call, source, async (stream) => {
    if (!(await isAllowed(server.config.authorize, request, 'runs:read', run))) stream.end(DENIED)
  })
}

export function readCursor(what: string, text: string): number {
  const cursor = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(cursor))
    throw new DurablyError('invalid_argument', `${what} must be the sequence of an event, or 0, got ${JSON.stringify(text)}`)
  return cursor
}

export function demandEventLog({ engine }: Server): void {
  if (!engine.store.eventLog) throw new DurablyError('event_log_off', 'there is nothing to follow: eventLog is false')
}

/** If the file with the next events is gone, that is said before the stream begins. */
export async function demandArchive({ engine }: Server, row: RunRow, after: number): Promise<void> {
  if (row.logRef) await engine.follow.store.events.list(row.id, { after, limit: 1 })
}

function deleted(runId: string): DurablyError {
  return new DurablyError('run_deleted', `run ${JSON.stringify(runId)} was deleted`, { runId })
}
