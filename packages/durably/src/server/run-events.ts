// GET /runs/:id/events: the event log of one run as a stream, from a place in it, then live, until the run has ended.
import { FollowedLogs } from '../events/followed-logs.ts'
import { ahead } from '../events/log-reader.ts'
import { DurablyError } from '../model/errors.ts'
import { isTerminal } from '../model/run.ts'
import { isAllowed } from './authorize.ts'
import type { Call, Server } from './call.ts'
import { frame } from './event-stream.ts'
import { emptyResponse } from './json-response.ts'
import { type LogFrames, LogSource } from './log-source.ts'
import { DENIED, openEventStream } from './open-event-stream.ts'
import { said } from './query.ts'
import { noSuchRun, visibleRun } from './visible-run.ts'

const WORDS: LogFrames = {
  event: (event) => frame(event, { id: event.sequence }),
  done: (_, status) => frame({ status }, { event: 'done' }),
  gone: () => frame({}, { event: 'gone' }),
}

export async function runEvents(call: Call): Promise<Response> {
  const { server, request, query, params } = call
  const runId = params.id ?? ''
  const after = readCursor('the cursor', request.headers.get('Last-Event-ID') || said(query, 'after') || '0')
  demandEventLog(server)
  const seen = await visibleRun(server, request, runId)
  if (!seen) throw after > 0 ? deleted(runId) : noSuchRun(runId)
  const { row, run } = seen
  if (after > row.lastEventSequence) throw ahead(row, after)
  // What a reader of its own accord takes for: do not connect again.
  if (isTerminal(row.status) && after === row.lastEventSequence) return emptyResponse(204)
  const source = new LogSource(new FollowedLogs(server.engine.tail, [{ runId, after }]), WORDS)
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

function deleted(runId: string): DurablyError {
  return new DurablyError('run_deleted', `run ${JSON.stringify(runId)} is not there any more`, { runId })
}
