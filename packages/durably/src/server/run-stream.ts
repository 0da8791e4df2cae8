// The event log of one run as a stream: from the cursor of the request, then live, until the run has ended.
//   R1. One event of the log may become several messages, or none. Only the last message has an `id:`, so a reader that was cut off between
//       them gets all of them again.
import { ahead } from '../events/event-log-reader.ts'
import { FollowedLogs } from '../events/followed-logs.ts'
import { DurablyError } from '../model/errors.ts'
import type { RunLogEvent } from '../model/event.ts'
import { isTerminal, type RunRow, type TerminalStatus } from '../model/run.ts'
import { frame } from './event-stream.ts'
import { emptyResponse } from './json-response.ts'
import { LogSource } from './log-source.ts'
import { openStream, type StreamServer } from './open-event-stream.ts'
import { noSuchRun } from './visible-run.ts'

/** One message of a stream of Server-Sent Events. */
export interface StreamMessage {
  /** Its name, without line breaks. Default `message`. */
  event?: string
  /** Written as JSON; values that JSON does not have are tagged. */
  data: unknown
}

/** How the log of a run is sent to a reader. */
export interface RunStreamOptions {
  /**
   * What a reader gets for an event of the log; none sends nothing. Events carry the input of the run, the outputs of its steps, and the stacks of
   * failures: name what the reader may see, and nothing else.
   */
  messages: (event: RunLogEvent) => readonly StreamMessage[]
  /** What a reader gets last: the run has ended so, was deleted, or may not be read any more. Default: nothing. */
  last?: (how: TerminalStatus | 'gone' | 'denied') => StreamMessage
  /** Whose stream it is: `maxStreams` counts for each. Default: all readers are one. */
  principal?: string
  /** Asked once per `pollingInterval` while the stream is open; if it is not true, the stream is closed. Default: not asked. */
  mayRead?: () => boolean | Promise<boolean>
}

/** `row`: the run, as the caller has read it; null if there is none that the reader may know of. */
export async function openRunStream(
  server: StreamServer,
  request: Request,
  { runId, row }: { runId: string; row: RunRow | null },
  { messages, last, principal = '', mayRead = () => true }: RunStreamOptions,
): Promise<Response> {
  const { engine } = server
  const after = cursorOf(request)
  demandEventLog(engine)
  if (!row) throw after > 0 ? deleted(runId) : noSuchRun(runId)
  if (after > row.lastEventSequence) throw ahead(row, after)
  // 204 tells EventSource not to reconnect.
  if (isTerminal(row.status) && after === row.lastEventSequence) return emptyResponse(204)
  await demandArchive(engine, row, after)
  const logs = new FollowedLogs(engine.follow, [{ runId, after }], { watchesBetweenPages: true })
  const lastFrame = (how: TerminalStatus | 'gone' | 'denied') => (last ? frameOf(last(how)) : '')
  const frames = {
    event: (event: RunLogEvent) => framesOf(messages(event), event.sequence),
    done: (_: string, status: TerminalStatus) => lastFrame(status),
    gone: () => lastFrame('gone'),
  }
  return openStream(server, request, {
    principal,
    source: new LogSource(logs, frames),
    async recheck(stream) {
      if ((await mayRead()) !== true) stream.end(lastFrame('denied'))
    },
  })
}

function frameOf({ event, data }: StreamMessage, id?: number): string {
  return frame(data, { ...(event !== undefined && { event }), ...(id !== undefined && { id }) })
}

/** R1. */
function framesOf(messages: readonly StreamMessage[], id: number): string {
  return messages.map((message, i) => frameOf(message, i === messages.length - 1 ? id : undefined)).join('')
}

function cursorOf({ headers, url }: Request): number {
  return readCursor('the cursor', headers.get('Last-Event-ID') || new URL(url).searchParams.get('after') || '0')
}

export function readCursor(what: string, text: string): number {
  const cursor = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(cursor))
    throw new DurablyError('invalid_argument', `${what} must be the sequence of an event, or 0, got ${JSON.stringify(text)}`)
  return cursor
}

export function demandEventLog({ store }: StreamServer['engine']): void {
  if (!store.eventLog) throw new DurablyError('event_log_off', 'there is nothing to follow: eventLog is false')
}

/** If the file with the next events is gone, that is said before the stream begins. */
export async function demandArchive({ follow }: StreamServer['engine'], row: RunRow, after: number): Promise<void> {
  if (row.logRef) await follow.store.events.list(row.id, { after, limit: 1 })
}

function deleted(runId: string): DurablyError {
  return new DurablyError('run_deleted', `run ${JSON.stringify(runId)} was deleted`, { runId })
}
