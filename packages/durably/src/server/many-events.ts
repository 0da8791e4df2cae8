// GET /events?run=<id>:<after>&run=…: the logs of several runs over one connection. Each event names its run; the reader keeps a cursor
// for each run.
import { ahead } from '../events/event-log-reader.ts'
import { FollowedLogs, type FollowStart } from '../events/followed-logs.ts'
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import { isAllowed } from './authorize.ts'
import type { Call } from './call.ts'
import { frame } from './event-stream.ts'
import { type LogFrames, LogSource } from './log-source.ts'
import { openEventStream } from './open-event-stream.ts'
import { demandArchive, demandEventLog, readCursor } from './run-stream.ts'
import { shownTo } from './shown-run.ts'
import { visibleRun } from './visible-run.ts'

const RUNS_MAX = 100

const LAST = {
  done: (runId, status) => frame({ runId, status }, { event: 'done' }),
  gone: (runId) => frame({ runId }, { event: 'gone' }),
} satisfies Partial<LogFrames>

export async function manyEvents(call: Call): Promise<Response> {
  const { server, request, query } = call
  const starts = readStarts(query.getAll('run'))
  demandEventLog(server.engine)
  const seen = new Map<string, Run>()
  for (const { runId, after } of starts) {
    const found = await visibleRun(server, request, runId)
    if (found && after > found.row.lastEventSequence) throw ahead(found.row, after)
    if (found) await demandArchive(server.engine, found.row, after)
    if (found) seen.set(runId, found.run)
  }
  const logs = new FollowedLogs(server.engine.follow, starts, { watchesBetweenPages: true })
  const shown = await shownTo(call)
  const source = new LogSource(logs, { event: (event) => frame(shown.event(event)), ...LAST })
  const unseen = starts.filter(({ runId }) => !seen.has(runId))
  const first = unseen.map(({ runId }) => source.drop(runId)).join('')
  return openEventStream(call, { next: firstly(first, source), close: () => source.close() }, async (stream) => {
    for (const runId of logs.runIds) {
      const isSeen = await isAllowed(server.config.authorize, request, 'runs:read', seen.get(runId))
      if (!isSeen && logs.runIds.includes(runId)) stream.push(source.drop(runId))
    }
  })
}

/** Yields `text` first, then what the source yields. */
function firstly(text: string, source: LogSource): LogSource['next'] {
  let first = text
  return async (signal) => {
    const known = first
    first = ''
    return known || source.next(signal)
  }
}

function readStarts(texts: readonly string[]): FollowStart[] {
  if (texts.length > RUNS_MAX)
    throw new DurablyError('invalid_argument', `at most ${RUNS_MAX} runs can be followed at once, got ${texts.length}`)
  const starts = texts.map(readStart)
  const twice = starts.find(({ runId }, i) => starts.findIndex((other) => other.runId === runId) !== i)
  if (twice) throw new DurablyError('invalid_argument', `run ${JSON.stringify(twice.runId)} is named twice`)
  return starts
}

/** `<id>:<after>`, or the id alone for the whole log. */
function readStart(text: string): FollowStart {
  const colon = text.lastIndexOf(':')
  if (colon === -1) return { runId: text, after: 0 }
  return { runId: text.slice(0, colon), after: readCursor(`the cursor of run ${text.slice(0, colon)}`, text.slice(colon + 1)) }
}
