// Where a persisted event's line goes: a live run's own next write carries it, everything else goes to the log writer.
import type { LogLine } from '../events/log-line.ts'
import type { LogWriter } from '../events/log-line-writer.ts'
import type { Codec } from '../model/codec.ts'
import type { Env } from '../model/env.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { Worker } from './loop/worker.ts'

/** How soon a line of a long step can be read by others. */
const LINES_WITHIN_MS = 100

interface PersistEventParts {
  worker: Worker
  logWriter: LogWriter
  codec: Codec
  env: Env
}

export function persistEvent({ worker, logWriter, codec, env }: PersistEventParts, event: DurablyEvent, line: LogLine): void {
  const row: LogRow = { id: env.id(), ...line, data: encodeData(codec, line.data) }
  const execution = worker.execution(line.runId)
  if (!execution || execution.owner.sealed) return logWriter.append(row)
  execution.owner.rideLog(row)
  // Other events stand in the event log themselves; a log line stands there by reference.
  if (event.type === 'log:write') execution.attach('log:write', { logId: row.id })
  execution.heartbeat.carryWithin(LINES_WITHIN_MS)
}

/** A line is worth keeping even when its data is not storable. */
function encodeData(codec: Codec, data: unknown): string | null {
  try {
    return codec.encode(data, 'log data')
  } catch (error) {
    return codec.encode({ notStored: String(error) }, 'log data')
  }
}
